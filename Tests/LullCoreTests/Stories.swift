// The rules of the semantics, section by section: what falls due, and when.

extension Story {
    /// Section 2: time decides, not luck.
    static let due = [
        Story("nothing is executed before it is due", "debounce 10", "1@0 >9 due@9 >10", "due 10, 10 trailing 1"),
        Story(
            "an execution is recorded at its due instant, not when a timer fires", "debounce 10", "1@0 >500",
            "10 trailing 1 after >500"),
        Story(
            "a call at the due instant comes after the execution", "debounce 10", "1@0 2@10 >20",
            "10 trailing 1, 20 trailing 2"),
        Story(
            "a call does what was due at its key even if the timer is late", "debounce 10",
            "1@0 2@30 flush@31 3@40 cancel@55", "10 trailing 1 after 2@30, 31 flush 2, 50 trailing 3 after cancel@55"),
        Story(
            "calls at one instant are handled in their order", "debounce 10", "1@0 flush@0 2@0 3@0 >10",
            "0 flush 1, 10 trailing 3 ×2 since 0"),
        Story(
            "an earlier instant than the last one handled counts as that one", "debounce 10",
            "1@100 o:2@40 due:o@0 flush@7 >3", "due 110, 100 flush 1 after flush@7"),
        Story(
            "all keys come in order of their instants", "debounce 10", "a:1@0+9 b:2@1+3 c:3@2+5 >100",
            "4 trailing b: 2 after >100, 7 trailing c: 3 after >100, 9 trailing a: 1 after >100"),
        Story(
            "equal due instants come in the order in which the bursts began", "debounce 10",
            "c:1@0 a:2@0+3 b:3@0 a:4@1+9 >10", "10 trailing c: 1, 10 trailing a: 4 ×2 since 0, 10 trailing b: 3"),
        Story(
            "a key is ordered by its new burst", "debounce 10", "a:1@0 b:2@0 flush:a@1 a:3@2+8 >10",
            "1 flush a: 1, 10 trailing b: 2, 10 trailing a: 3"),
        Story(
            "a throttle's windows belong to one burst", "throttle 10", "a:1@0 a:2@5 b:3@10 b:4@11 >10 a:5@15 >100",
            "0 leading a: 1, 10 leading b: 3, 10 trailing a: 2, 20 trailing a: 5 after >100, "
                + "20 trailing b: 4 after >100"),
    ]

    /// Section 3.
    static let debounce = [
        Story(
            "each submit postpones the execution of the burst", "debounce 10", "1@0 2@9 3@18 due@18 >28",
            "due 28, 28 trailing 3 ×3 since 0"),
        Story(
            "the latest call's delay replaces the running one", "debounce 10", "1@0+50 due@0 2@1 due@1 3@2+0 >2",
            "due 50, due 11, 2 trailing 3 ×3 since 0"),
        Story(
            "a shorter delay never shortens a longer one under extend", "debounce 10 extend",
            "1@0+50 2@1 due@1 3@45 due@45 >55", "due 50, due 55, 55 trailing 3 ×3 since 0"),
        Story(
            "under extend a new burst does not inherit the last one's delay", "debounce 10 extend",
            "1@0+50 flush@1 2@2 due@2", "1 flush 1, due 12"),
        Story(
            "with a wait of 0 nothing is coalesced", "debounce 0", "1@5 2@5 3@5 >5",
            "5 trailing 1, 5 trailing 2, 5 trailing 3"),
        Story(
            "with a wait of 0 each submit leads", "debounce 0 leading", "1@5 2@5 3@5 >5",
            "5 leading 1, 5 leading 2, 5 leading 3"),
        Story(
            "with a wait of 0 each submit leads on both edges", "debounce 0 both", "1@5 2@5 3@5 >5",
            "5 leading 1, 5 leading 2, 5 leading 3"),
        Story("a negative delay of a call counts as zero", "debounce 10", "1@5+-7 >5", "5 trailing 1"),
        Story(
            "with leading the first submit of a burst is executed at once, alone", "debounce 10 both",
            "1@0 2@1 3@2 >12", "0 leading 1, 12 trailing 3 ×2 since 1"),
        Story(
            "a burst of one submit has no trailing execution after its leading one", "debounce 10 both", "1@0 >100",
            "0 leading 1"),
        Story(
            "leading only absorbs what comes before the gate is idle, and that keeps it open", "debounce 10 leading",
            "1@0 2@9 3@18 4@28", "0 leading 1, 28 leading 4", fates: "2 absorbed, 3 absorbed"),
        Story(
            "with trailing only the gate is idle after any execution", "debounce 10 maxWait 10",
            "1@0 2@8 >10 3@11 due@11", "10 maxWait 2 ×2 since 0, due 21"),
        Story(
            "with both edges the gate stays open until quiet after an execution", "debounce 10 both maxWait 10",
            "1@0 2@1 3@9 >11 4@18 >28 5@28", "0 leading 1, 11 maxWait 3 ×2 since 1, 28 trailing 4, 28 leading 5"),
        Story(
            "no value waits longer than maxWait, from the oldest submit behind it", "debounce 10 maxWait 25",
            "1@0 2@5 3@10 4@15 5@20 6@25 7@30 8@35 >100",
            "25 maxWait 5 ×5 since 0, 45 trailing 8 ×3 since 25 after >100"),
        Story(
            "a delay of a call may exceed maxWait, which then wins", "debounce 10 maxWait 20", "1@0+500 >500",
            "20 maxWait 1 after >500"),
        Story(
            "what is due at quiet and at maxWait at once is trailing", "debounce 10 maxWait 20",
            "1@0 2@10 3@15 4@20 >30", "10 trailing 1, 30 trailing 4 ×3 since 10"),
        Story(
            "leading only with maxWait executes again when the latest execution is that long ago",
            "debounce 10 leading maxWait 15", "1@0 2@5 3@10 4@15 5@20 6@25 7@30 8@35",
            "0 leading 1, 15 leading 4, 30 leading 7"),
        Story(
            "a stream that never pauses is never executed", "debounce 10",
            "1@0 >9 2@9 >18 3@18 >27 4@27 >36 5@36 >45 6@45", ""),
        Story(
            "the submit that completes the count is executed at once", "debounce 10 maxCount 3", "1@0 2@1 3@2 4@3 >100",
            "2 maxCount 3 ×3 since 0, 13 trailing 4 after >100"),
        Story(
            "an execution on the leading edge does not count towards maxCount", "debounce 10 both maxCount 2",
            "1@0 2@1 3@2 4@3 5@4 6@14", "0 leading 1, 2 maxCount 3 ×2 since 1, 4 maxCount 5 ×2 since 3, 14 leading 6"),
        Story(
            "a maxCount of 1 executes every submit at once", "debounce 10 maxCount 1", "1@0 2@0",
            "0 maxCount 1, 0 maxCount 2"),
    ]

    /// Section 3: the least time between two due instants of a key.
    static let spacing = [
        Story(
            "a value that would be due too soon waits for the spacing, and later ones join it", "debounce 3 spacing 20",
            "1@0 2@5 due@5 3@19 due@19 4@22 due@22 >100 5@100 >200",
            "3 trailing 1 after 2@5, due 23, due 23, due 25, 25 trailing 4 ×3 since 5 after >100, "
                + "103 trailing 5 after >200"),
        Story(
            "keys have spacings of their own", "debounce 3 spacing 20", "a:1@0 b:2@10 a:3@14 b:4@14 >100",
            "3 trailing a: 1 after a:3@14, 13 trailing b: 2 after b:4@14, 23 trailing a: 3 after >100, "
                + "33 trailing b: 4 after >100"),
        Story(
            "there is no leading edge before the spacing has passed", "debounce 3 both spacing 20", "1@0 2@19 >100",
            "0 leading 1, 22 trailing 2 after >100"),
        Story(
            "there is a leading edge when the spacing has passed", "debounce 3 both spacing 20", "1@0 2@20 >100",
            "0 leading 1, 20 leading 2"),
        Story(
            "what the spacing holds back is maxWait if its pause has not ended", "debounce 3 maxWait 6 spacing 20",
            "1@0 2@4 3@6 4@8 5@10 6@12 7@14 8@16 9@18 10@20 11@22 >100",
            "3 trailing 1 after 2@4, 23 maxWait 11 ×10 since 4 after >100"),
        Story(
            "what is full before the spacing has passed falls due then, with all that joins it",
            "debounce 50 maxCount 2 spacing 20 collect", "1@0 2@1 3@2 due@2 4@3 due@3 5@4 due@4 >100",
            "1 maxCount 1+2 ×2 since 0, due 52, due 21, due 21, 21 maxCount 3+4+5 ×3 since 2 after >100"),
        Story(
            "a delay of a call does not shorten the spacing", "debounce 3 spacing 20", "1@0+0 2@1+0 due@1",
            "0 trailing 1 after 2@1+0, due 20"),
        Story(
            "a flush does not wait for the spacing, and the next one counts from it", "debounce 3 spacing 20",
            "1@0 2@4 flush@10 3@11 due@11 flush:*@12 4@13 >100",
            "3 trailing 1 after 2@4, 10 flush 2, due 30, 12 flush 3, 32 trailing 4 after >100"),
        Story(
            "a flush of nothing and a cancel leave the spacing as it was", "debounce 3 spacing 20",
            "1@0 flush@5 2@6 cancel@7 cancel:*@8 3@9 >100", "3 trailing 1 after flush@5, 23 trailing 3 after >100",
            fates: "2 cancelled"),
        Story(
            "spacing counts due instants, however long handlers take", "debounce 3 spacing 20 slow",
            "1@0 >3 2@4 >40 end:1", "3 trailing 1, 23 trailing 2 after end:1"),
        Story(
            "keys that are remembered for their spacing count towards the capacity", "debounce 3 spacing 20 capacity 1",
            "a:1@0 >10 a:2@11 cancel:a@12 b:3@22 b:4@23", "3 trailing a: 1 after >10",
            fates: "2 cancelled, 3 rejectedByCapacity, 4 pending"),
    ]

    /// Section 4.
    static let throttle = [
        Story(
            "the first submit is executed at once, the last one of each window at its end", "throttle 10",
            "1@0 2@5 3@10 4@15 5@20 6@25 >100",
            "0 leading 1, 10 trailing 2, 20 trailing 4 ×2 since 10, 30 trailing 6 ×2 since 20 after >100"),
        Story(
            "two are never due less than the interval apart", "throttle 10", "1@0 2@9 >10 3@11 >19 >20",
            "0 leading 1, 10 trailing 2, 20 trailing 3"),
        Story(
            "a window that passes without a submit makes the gate idle", "throttle 10", "1@0 2@5 >20 3@20",
            "0 leading 1, 10 trailing 2 after >20, 20 leading 3"),
        Story(
            "trailing only keeps the first value until the end of its window", "throttle 10 trailing", "1@3 2@12 >100",
            "13 trailing 2 ×2 since 3 after >100"),
        Story(
            "leading only absorbs the rest of the window", "throttle 10 leading", "1@0 2@9 3@10 4@19",
            "0 leading 1, 10 leading 3", fates: "2 absorbed, 4 absorbed"),
        Story(
            "a delay given with a call is ignored", "throttle 10", "1@0+500 2@1+0 due@1 >10",
            "0 leading 1, due 10, 10 trailing 2"),
        Story(
            "maxCount executes at once and leaves the window as it is", "throttle 10 maxCount 2",
            "1@0 2@1 3@2 4@3 >10 5@19 >20", "0 leading 1, 2 maxCount 3 ×2 since 1, 10 trailing 4, 20 trailing 5"),
        Story(
            "without the leading edge the first value counts towards maxCount", "throttle 10 trailing maxCount 2",
            "1@0 2@1 3@2 >100", "1 maxCount 2 ×2 since 0, 10 trailing 3 after >100"),
        Story(
            "a flush makes the gate idle: the next submit starts a new window", "throttle 10",
            "1@0 2@4 flush@5 3@6 4@7 >16", "0 leading 1, 5 flush 2, 6 leading 3, 16 trailing 4"),
        Story(
            "with an interval of 0 nothing is coalesced", "throttle 0", "1@5 2@5 3@5 >5",
            "5 leading 1, 5 leading 2, 5 leading 3"),
        Story(
            "a wake-up that is late does not move the windows", "throttle 10", "1@0 2@5 >18 3@18 due@18 4@47",
            "0 leading 1, 10 trailing 2 after >18, due 20, 20 trailing 3 after 4@47, 47 leading 4"),
    ]

    /// Section 5: the other calls on a gate.
    static let calls = [
        Story(
            "a touch postpones what is pending as a submit would", "debounce 10",
            "1@0 touch@6 due@6 touch@7+1 due@7 >8", "due 16, due 8, 8 trailing 1"),
        Story("maxWait bounds what touches postpone", "debounce 10 maxWait 15", "1@0 touch@9 due@9", "due 15"),
        Story("under extend a touch keeps the longer delay", "debounce 10 extend", "1@0 touch@1+2 due@1", "due 10"),
        Story(
            "a touch opens no gate, and keeps one open", "debounce 10 both", "touch@0 1@1 touch@8 2@12 >30",
            "1 leading 1, 22 trailing 2 after >30"),
        Story("a throttle ignores a touch", "throttle 10 trailing", "1@0 touch@5 due@5", "due 10"),
        Story(
            "a flush executes what is pending, and makes the gate idle", "debounce 10", "1@0 2@3 flush@4 >100",
            "4 flush 2 ×2 since 0"),
        Story(
            "a flush makes the gate idle also with nothing pending", "debounce 10 both", "1@0 flush@1 2@2",
            "0 leading 1, 2 leading 2"),
        Story("a flush and a cancel of an unknown key do nothing", "debounce 10", "flush@0 cancel@0", ""),
        Story("a flush does what was due before it, with its own edge", "debounce 10", "1@0 flush@10", "10 trailing 1"),
        Story(
            "a flush of all keys goes in the order in which the bursts began, whatever slots are used again",
            "debounce 10", "c:1@0 a:2@0 b:3@0 a:4@1 cancel:c@1 d:5@1 flush:*@2",
            "2 flush a: 4 ×2 since 0, 2 flush b: 3, 2 flush d: 5"),
        Story(
            "a flush of all keys comes after what was due", "debounce 10", "a:1@0+50 b:2@0+5 flush:*@20",
            "5 trailing b: 2 after flush:*@20, 20 flush a: 1"),
        Story(
            "a cancel drops what is pending, and makes the gate idle", "debounce 10 both", "1@0 2@1 cancel@2 3@3",
            "0 leading 1, 3 leading 3", fates: "2 cancelled"),
        Story(
            "a cancel drops what is waiting, and leaves what is running", "debounce 10 slow",
            "1@0 >10 2@11 >21 3@22 cancel@23 end:1", "10 trailing 1", fates: "1 executed, 2 cancelled, 3 cancelled"),
        Story(
            "a cancel comes after what was due", "debounce 10", "1@0 cancel@10", "10 trailing 1", fates: "1 executed"),
        Story(
            "a cancel with running cancels each run once, and its end by throwing is no failure",
            "debounce 10 concurrent slow", "1@0+0 2@1+0 >1 stop@2 stop@3 throw:1 end:2",
            "0 trailing 1 after 2@1+0, 1 trailing 2, stop 1, stop 2", fates: "1 cancelled, 2 executed"),
        Story(
            "a cancel of all keys includes keys that only run", "debounce 10 slow", "a:1@0 >10 b:2@11 stop:*@12",
            "10 trailing a: 1, stop 1", fates: "2 cancelled"),
        Story(
            "the next due instant is that after everything due by now, and nothing changes", "debounce 10",
            "due@0 1@0 due@9 due@10 due@9 >10", "due never, due 10, due never, due 10, 10 trailing 1"),
        Story(
            "a question about the past is answered for the last instant handled", "debounce 10", "1@0 >5 o:2@30 due@0",
            "due never"),
        Story(
            "the next due instant of all keys is the earliest", "debounce 10",
            "due:*@0 a:1@0+30 b:2@0+20 due:*@0 due:*@25", "due never, due 20, due 30"),
        Story(
            "after the shut-down submits are rejected", "debounce 10", "1@0 shutDown@1 2@2", "1 flush 1",
            fates: "1 executed, 2 rejectedByShutDown"),
        Story(
            "a shut-down drops what is pending if asked to", "debounce 10", "a:1@0 b:2@0 drop@1", "",
            fates: "1 cancelled, 2 cancelled"),
        Story(
            "what waits is executed after a shut-down with a flush", "debounce 10 slow",
            "1@0+0 2@1+0 >1 shutDown@2 end:1", "0 trailing 1 after 2@1+0, 1 trailing 2 after end:1"),
        Story(
            "what waits is dropped by a shut-down without a flush", "debounce 10 slow", "1@0+0 2@1+0 >1 drop@2 end:1",
            "0 trailing 1 after 2@1+0",
            fates: "2 cancelled"),
        Story(
            "shutting down twice is harmless", "debounce 10", "1@0 shutDown@1 drop@2", "1 flush 1",
            fates: "1 executed"),
    ]

    /// Section 5, the waiting form of flush: a caller that waits for executions to end.
    static let waiting = [
        Story(
            "with nothing running or waiting there is nothing to wait for", "debounce 10 slow",
            "wait:k 1@0 wait:k wait:*", "nothing to wait for, nothing to wait for, nothing to wait for"),
        Story(
            "a caller waits for the running execution of its key and for the one that waits behind it",
            "debounce 10 slow", "1@0 flush@0 2@1 flush@1 o:3@1 flush:o@1 wait:k end:3 end:1 throw:2",
            "0 flush 1, 1 flush o: 3, 1 flush 2 after end:1, resume 7 after throw:2"),
        Story(
            "a caller waits for the value that replaced the one it waited for", "debounce 10 slow",
            "1@0 flush@0 2@1 flush@1 wait:k 3@2 flush@2 end:1 end:3",
            "0 flush 1, 2 flush 3 ×2 since 1 after end:1, resume 7 after end:3"),
        Story(
            "a caller does not wait for what comes later", "debounce 10 slow",
            "1@0 flush@0 wait:k 2@1 flush@1 end:1 end:2", "0 flush 1, 1 flush 2 after end:1, resume 7 after end:1"),
        Story(
            "a caller that waits for all keys waits for each of them, and for every concurrent run",
            "debounce 10 concurrent slow", "1@0+0 2@1+0 o:3@1+0 >1 wait:* end:2 end:1 end:3",
            "0 trailing 1 after 2@1+0, 1 trailing 2, 1 trailing o: 3, resume 7 after end:3"),
        Story(
            "a caller is resumed when what it waits for is cancelled", "debounce 10 maxConcurrent 1 slow",
            "a:1@0 b:2@0 flush:*@0 wait:b cancel:b@1", "0 flush a: 1, resume 7 after cancel:b@1"),
    ]

    /// Sections 6 and 8.
    static let combination = [
        Story(
            "latest keeps the last value; the others are superseded", "debounce 10", "1@0 2@0 3@0 >10",
            "10 trailing 3 ×3 since 0", fates: "1 superseded, 2 superseded, 3 executed"),
        Story(
            "first keeps the first value; the others are absorbed", "debounce 10 first", "1@0 2@0 3@0 >10",
            "10 trailing 1 ×3 since 0", fates: "1 executed, 2 absorbed, 3 absorbed"),
        Story(
            "collect keeps all of them in order, and all share one fate", "debounce 10 collect slow",
            "1@0 2@0 3@0 >10 throw:3", "10 trailing 1+2+3 ×3 since 0", fates: "1 failed, 2 failed, 3 failed"),
        Story(
            "collected values are cancelled together", "debounce 10 collect", "1@0 2@0 3@0 cancel@1", "",
            fates: "1 cancelled, 2 cancelled, 3 cancelled"),
        Story(
            "the value that completes the count takes part in the combination", "debounce 10 maxCount 3 first",
            "1@0 2@1 3@2", "2 maxCount 1 ×3 since 0"),
    ]

    static let all =
        due + debounce + spacing + throttle + calls + waiting + combination + running + restarting + telling + limits
        + rates + timeLimits + batches + overflow
}
