import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// What the command prints, in samples: for those who read a change of it. That everything else is well formed and
/// complete is tested in `PagesTests`.
@Suite("What the command prints", .ownThreads)
struct SampleTests {
    @Test func `a page of help`() throws {
        #expect(
            try lull("resume", "--help").output == """
                Usage: lull resume --store URL [OPTION…]

                Ends the pause of a namespace: its workers go on at once, with what has waited
                longest. A namespace that was not paused is no error.

                  --store URL            sqlite:PATH, a file; postgres://USER@HOST/DATABASE,
                                         where lull schema has prepared the database; or
                                         redis://HOST/DATABASE
                  --namespace NAME       which of its namespaces (default: default)
                  --patience D           how long a call waits for other writers of a file
                                         (default 5s), or for a server (default 30s)


                """)
    }

    @Test func `a page of the manual`() throws {
        let page = try lull("man", "resume").output
        #expect(
            page.components(separatedBy: ".SH SEE ALSO")[0] == #"""
                .TH LULL-RESUME 1 "" "lull 0.1.0" "User Commands"
                .ad l
                .SH NAME
                lull\-resume \- ends a pause
                .SH SYNOPSIS
                lull resume \-\-store URL [OPTION\[u2026]]
                .SH DESCRIPTION
                Ends the pause of a namespace: its workers go on at once, with what has waited longest. A \#
                namespace that was not paused is no error.
                .SH OPTIONS
                .TP
                \fB\-\-store\fR \fIURL\fR
                sqlite:PATH, a file; postgres://USER@HOST/DATABASE, where lull schema has prepared the \#
                database; or redis://HOST/DATABASE
                .TP
                \fB\-\-namespace\fR \fINAME\fR
                which of its namespaces (default: default)
                .TP
                \fB\-\-patience\fR \fID\fR
                how long a call waits for other writers of a file (default 5s), or for a server (default 30s)

                """#)
    }

    @Test func `a completion`() throws {
        let lines = try lull("completions", "fish").lines.filter { $0.contains("subcommand_from resume'") }
        #expect(
            lines.joined(separator: "\n") == """
                complete -c lull -n '__fish_seen_subcommand_from resume' -l help -d 'explain this command'
                complete -c lull -n '__fish_seen_subcommand_from resume' -l store -x -a '(__lull_stores)' -d \
                'sqlite:PATH, a file'
                complete -c lull -n '__fish_seen_subcommand_from resume' -l namespace -x -d 'which of its \
                namespaces (default: default)'
                complete -c lull -n '__fish_seen_subcommand_from resume' -l patience -x -d 'how long a call \
                waits for other writers of a file (default …'
                """)
    }

    @Test func `a status`() throws {
        let store = try TestStore()
        _ = try store.run("submit --namespace mails --throttle 90s --edges trailing a 1")
        _ = try store.run("submit --namespace mails b 1")
        _ = try store.run(
            "run --namespace hooks --wait 0 --attempts 1 --at-end flush", ["--", "false"], input: "x\n")
        let outcome = try store.run("status --fail-if dead>0,pending>1")
        #expect(outcome.ending == 1)
        #expect(
            outcome.output + outcome.errors == """
                namespace  pending  ready  running  retrying  dead  oldest  paused
                hooks            0      0        0         0     1       -       -
                mails            2      0        0         0     0       -       -
                lull: the namespace hooks: dead is 1, more than 0
                lull: the namespace mails: pending is 2, more than 1

                """)
        #expect(
            try store.run("status --json").lines.first == #"""
                {"namespace":"hooks","wait":0,"pending":0,"ready":0,"running":0,"retrying":0,"dead":1,\#
                "oldestDue":null,"paused":null,"pauseEndsIn":null,"limited":0,"nextStart":null,"entries":0,\#
                "oldestEntry":null,\#
                "attempts":1,"lostLeases":0,"runs":1,\#
                "executed":1,"failures":1,"restarted":0,"snoozed":0,"givenUp":0,\#
                "overdue":0,"pausedAt":null,"pauseReason":null}
                """#)
    }
}
