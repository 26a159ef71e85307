// How long executions may run: section 7 of the semantics.

extension Story {
    static let timeLimits = [
        Story(
            "an execution that has run for its time limit is told to stop, and has failed if it throws",
            "debounce 10 timeLimit 5 slow", "1@0 >10 >14 due@14 >15 throw:1", "10 trailing 1, due never, stop 1",
            fates: "1 failed"),
        Story(
            "if it returns it is executed", "debounce 10 timeLimit 5 slow", "1@0 >10 >15 end:1",
            "10 trailing 1, stop 1", fates: "1 executed"),
        Story(
            "if it goes on it is overdue when as much time again has passed, which is told once",
            "debounce 10 timeLimit 5 slow", "1@0 >10 >19 due@19 >20 >50 >100 throw:1",
            "10 trailing 1, stop 1, due never, overdue 1", fates: "1 failed"),
        Story(
            "a synchronous one is overdue at its limit", "debounce 10 timeLimit 5 synchronous slow",
            "1@0 >10 >15 >50 end:1", "10 trailing 1, stop 1, overdue 1", fates: "1 executed"),
        Story(
            "one that has ended is not told to stop", "debounce 10 timeLimit 5 slow", "1@0 >10 end:1 >50",
            "10 trailing 1", fates: "1 executed"),
        Story(
            "the limit counts from the start, not from when the value was due", "debounce 10 timeLimit 5 slow",
            "1@0 >12 >16 due@16 >17", "10 trailing 1 after >12, due never, stop 1"),
        Story(
            "each has its own limit", "debounce 1 concurrent timeLimit 5 slow", "1@0 2@2 >3 >7 due@7 >8 throw:2 end:1",
            "1 trailing 1 after 2@2, 3 trailing 2, stop 1, due never, stop 2", fates: "1 executed, 2 failed"),
        Story(
            "one that a newer value has told to stop first is superseded", "debounce 2 cancelRunning timeLimit 5 slow",
            "1@0 >2 2@3 >5 >7 throw:1", "2 trailing 1, stop 1, 5 trailing 2 after throw:1", fates: "1 superseded"),
        Story(
            "one that its limit has told to stop first has failed, and the newer value waits",
            "debounce 2 cancelRunning timeLimit 5 slow", "1@0 >2 >7 2@8 >10 throw:1",
            "2 trailing 1, stop 1, 10 trailing 2 after throw:1", fates: "1 failed"),
        Story(
            "at one instant, what falls due comes before the limit", "debounce 2 cancelRunning timeLimit 5 slow",
            "1@0 >2 2@5 >7 throw:1", "2 trailing 1, stop 1, 7 trailing 2 after throw:1", fates: "1 superseded"),
        Story(
            "a call at that instant comes after it", "debounce 2 cancelRunning early timeLimit 5 slow",
            "1@0 >2 2@7 throw:1 >9", "2 trailing 1, stop 1, 9 trailing 2", fates: "1 failed"),
        Story(
            "what was due before the limit comes before it, however late the timer is",
            "debounce 2 cancelRunning timeLimit 5 slow", "1@0 >2 2@3 o:3@9 throw:1",
            "2 trailing 1, stop 1, 5 trailing 2 after throw:1", fates: "1 superseded"),
        Story(
            "under restart, one that its limit has told to stop does not go back",
            "debounce 2 restart collect timeLimit 5 slow", "1@0 >2 >7 2@8 >10 throw:1",
            "2 trailing 1, stop 1, 10 trailing 2 after throw:1", fates: "1 failed"),
        Story(
            "under restart, one that was interrupted first goes back", "debounce 2 restart collect timeLimit 5 slow",
            "1@0 >2 2@3 >5 >7 throw:1 >11 >12",
            "2 trailing 1, stop 1, 5 trailing 1+2 ×2 since 0 after throw:1, stop 2"),
        Story(
            "a cancel that includes what is running makes it cancelled", "debounce 2 timeLimit 5 slow",
            "1@0 >2 >7 stop@8 throw:1", "2 trailing 1, stop 1", fates: "1 cancelled"),
        Story(
            "a cancel of what waits leaves it failed", "debounce 2 cancelRunning timeLimit 5 slow",
            "1@0 >2 >7 2@8 >10 cancel@11 throw:1", "2 trailing 1, stop 1", fates: "1 failed, 2 cancelled"),
        Story(
            "a newer value replaces it at once", "debounce 2 replace timeLimit 5 slow", "1@0 >2 >7 2@8 >10 >12 throw:1",
            "2 trailing 1, stop 1, 10 trailing 2, overdue 1", fates: "1 superseded, 2 running"),
        Story(
            "nothing joins it under share", "debounce 0 share timeLimit 5 slow", "1@0 >0 >5 2@6 >6 throw:1",
            "0 trailing 1, stop 1, 6 trailing 2 after throw:1", fates: "1 failed"),
        Story(
            "it is still running for skip", "debounce 2 skip timeLimit 5 slow", "1@0 >2 >7 2@8 >10 throw:1",
            "2 trailing 1, stop 1", fates: "1 failed, 2 absorbed"),
        Story(
            "an overdue one holds its slot, and the next one has all its time",
            "debounce 2 maxConcurrent 1 timeLimit 5 slow", "a:1@0 b:2@0 >2 >7 >12 throw:1 >16 due@16 >17",
            "2 trailing a: 1, stop 1, overdue 1, 2 trailing b: 2 after throw:1, due never, stop 2",
            fates: "1 failed, 2 running"),
        Story(
            "a caller of a flush waits until it has ended", "debounce 10 timeLimit 5 slow",
            "1@0 flush@0 wait:k >5 >10 throw:1", "0 flush 1, stop 1, overdue 1, resume 7 after throw:1",
            fates: "1 failed"),
    ]
}
