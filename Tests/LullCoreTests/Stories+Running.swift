// The rules of the semantics, section by section: while handlers run.

extension Story {
    /// Section 7: a value falls due while its key is busy.
    static let running = [
        Story(
            "under queue a due value waits, and starts when the running one has ended", "debounce 10 slow",
            "1@0+0 >0 2@1+4 >5 end:1", "0 trailing 1, 5 trailing 2 after end:1"),
        Story(
            "a later due value replaces the waiting one: counts are added, the oldest submit stays", "debounce 10 slow",
            "1@0+0 >0 2@1+1 3@3 4@4 flush@5 end:1", "0 trailing 1, 5 flush 4 ×3 since 1 after end:1",
            fates: "2 superseded, 3 superseded, 4 running"),
        Story(
            "under first the waiting value stays", "debounce 10 first slow", "1@0+0 >0 2@1+0 3@2+0 >2 end:1",
            "0 trailing 1, 2 trailing 2 ×2 since 1 after end:1", fates: "2 running, 3 absorbed"),
        Story(
            "with collect what waits may exceed maxCount", "debounce 10 maxCount 2 collect slow",
            "1@0 2@0 3@0 4@0 5@0 6@0 7@0 end:2",
            "0 maxCount 1+2 ×2 since 0, 0 maxCount 3+4+5+6 ×4 since 0 after end:2"),
        Story(
            "under cancelRunning the running one is cancelled, once, and awaited", "debounce 10 cancelRunning slow",
            "1@0+0 >0 2@1+0 3@2+0 >2 throw:1", "0 trailing 1, stop 1, 2 trailing 3 ×2 since 1 after throw:1",
            fates: "1 superseded, 2 superseded, 3 running"),
        Story(
            "an execution that is cancelled and returns is executed all the same", "debounce 10 cancelRunning slow",
            "1@0+0 >0 2@1+0 >1 end:1", "0 trailing 1, stop 1, 1 trailing 2 after end:1", fates: "1 executed"),
        Story(
            "an execution that is not cancelled and throws has failed", "debounce 10 cancelRunning slow",
            "1@0+0 >0 throw:1",
            "0 trailing 1", fates: "1 failed"),
        Story(
            "a later cancel turns a run cancelled for a newer value into a cancelled one",
            "debounce 10 cancelRunning slow", "1@0+0 >0 2@1+0 >1 cancel@2 throw:1", "0 trailing 1, stop 1",
            fates: "1 cancelled, 2 cancelled"),
        Story(
            "a cancel with running does the same, and the run is cancelled once", "debounce 10 cancelRunning slow",
            "1@0+0 >0 2@1+0 >1 stop@2 throw:1", "0 trailing 1, stop 1", fates: "1 cancelled, 2 cancelled"),
        Story(
            "under concurrent both run, and end independently", "debounce 10 concurrent slow",
            "1@0+0 >0 2@1+0 3@2+0 >2 throw:2 end:3 end:1", "0 trailing 1, 1 trailing 2 after 3@2+0, 2 trailing 3",
            fates: "1 executed, 2 failed, 3 executed"),
        Story(
            "under skip a due value is dropped as absorbed", "debounce 10 skip slow", "1@0+0 >0 2@1+0 >1 end:1",
            "0 trailing 1", fates: "2 absorbed"),
        Story(
            "under skip a leading value is dropped as well, and the burst goes on", "debounce 10 both skip slow",
            "1@0 2@20 3@21 end:1 >31", "0 leading 1, 31 trailing 3", fates: "2 absorbed"),
        Story(
            "under skip a flush waits, and what falls due meanwhile is dropped", "debounce 10 skip slow",
            "1@0+0 >0 2@1 flush@2 3@3+0 >3 4@4 flush@5 end:1", "0 trailing 1, 5 flush 4 ×2 since 1 after end:1",
            fates: "2 superseded, 3 absorbed"),
        Story(
            "under skip the flush of a shut-down waits", "debounce 10 skip slow", "1@0+0 >0 2@1 shutDown@2 end:1",
            "0 trailing 1, 2 flush 2 after end:1"),
        Story(
            "a submit while its key is running opens a new burst", "debounce 10 slow", "1@0+0 >0 2@1 >3 end:1 >11",
            "0 trailing 1, 11 trailing 2"),
        Story(
            "different keys run independently", "debounce 10 slow", "1@0+0 >0 o:2@1+0 >1",
            "0 trailing 1, 1 trailing o: 2"),
    ]

    /// Section 7: values of an interrupted execution go back.
    static let restarting = [
        Story(
            "the running one is interrupted, and its values start again in front of the newer ones",
            "debounce 10 restart collect slow", "1@0+0 >0 2@1+0 3@2+0 >2 throw:1 end:3",
            "0 trailing 1, stop 1, 2 trailing 1+2+3 ×3 since 0 after throw:1",
            fates: "1 executed, 2 executed, 3 executed"),
        Story(
            "with latest the newer value is kept in a restart", "debounce 10 restart slow", "1@0+0 >0 2@1+0 >1 throw:1",
            "0 trailing 1, stop 1, 1 trailing 2 ×2 since 0 after throw:1", fates: "1 superseded, 2 running"),
        Story(
            "with first the older value is kept", "debounce 10 restart first slow", "1@0+0 >0 2@1+0 >1 throw:1",
            "0 trailing 1, stop 1, 1 trailing 1 ×2 since 0 after throw:1", fates: "1 running, 2 absorbed"),
        Story(
            "an interrupted execution that returns is executed, and the newer value starts alone",
            "debounce 10 restart collect slow",
            "1@0+0 >0 2@1+0 >1 end:1", "0 trailing 1, stop 1, 1 trailing 2 after end:1", fates: "1 executed"),
        Story(
            "interrupting at the submit, what goes back is held until the newer value falls due",
            "debounce 10 restart early collect slow", "1@0+0 >0 2@1 throw:1 >10 >11",
            "0 trailing 1, stop 1, 11 trailing 1+2 ×2 since 0"),
        Story(
            "what is held starts with a flush", "debounce 10 restart early collect slow",
            "1@0+0 >0 2@1 cancel@2 throw:1 due@2 flush@3", "0 trailing 1, stop 1, due never, 3 flush 1",
            fates: "1 running, 2 cancelled"),
        Story(
            "what is held is dropped by a cancel", "debounce 10 restart early collect slow",
            "1@0+0 >0 2@1 cancel@2 throw:1 cancel@3", "0 trailing 1, stop 1", fates: "1 cancelled, 2 cancelled"),
        Story(
            "an execution whose oldest submit is as old as maxWait is not interrupted",
            "debounce 10 maxWait 20 restart collect slow", "1@0 >10 2@12+0 >12 throw:1 3@20+0 >20 end:2",
            "10 trailing 1, stop 1, 12 trailing 1+2 ×2 since 0 after throw:1, 20 trailing 3 after end:2"),
        Story(
            "a cancel of what is running ends an interrupted execution as cancelled",
            "debounce 10 restart collect slow", "1@0+0 >0 2@1+0 >1 stop@2 throw:1", "0 trailing 1, stop 1",
            fates: "1 cancelled, 2 cancelled"),
        Story(
            "a caller that waits for an interrupted execution waits for the one that gets its values",
            "debounce 10 restart collect slow", "1@0+0 >0 wait:* 2@1+0 >1 throw:1 end:2",
            "0 trailing 1, stop 1, 1 trailing 1+2 ×2 since 0 after throw:1, resume 7 after end:2"),
        Story(
            "a part of a batch goes back in front of the rest", "debounce 10 restart collect maxBatch 2 slow",
            "1@0 2@0 3@0 >10 4@11+0 >11 throw:2 end:2",
            "10 trailing 1+2 ×2 since 0, stop 2, 11 trailing 1+2 ×2 since 0 after throw:2, "
                + "11 trailing 3+4 ×2 since 0 after end:2"),
        Story(
            "after a shut-down with a flush what was held starts at once", "debounce 10 restart early collect slow",
            "1@0+0 >0 2@1 cancel@2 shutDown@3 wait:* throw:1 end:1",
            "0 trailing 1, stop 1, 3 flush 1 after throw:1, resume 7 after end:1", fates: "1 executed"),
        Story(
            "after a shut-down without a flush what was held is cancelled", "debounce 10 restart early collect slow",
            "1@0+0 >0 2@1 cancel@2 drop@3 wait:* throw:1", "0 trailing 1, stop 1, resume 7 after throw:1",
            fates: "1 cancelled"),
        Story(
            "under cancelRunning, too, a submit can cancel what is running, and keeps maxWait",
            "debounce 10 maxWait 15 cancelRunning early slow", "1@0+0 >0 2@1 throw:1 3@9 >16",
            "0 trailing 1, stop 1, 16 maxWait 3 ×2 since 1", fates: "1 superseded"),
        Story(
            "a submit that is absorbed or rejected interrupts nothing", "debounce 10 leading restart early slow",
            "1@0 2@1 shutDown@2 3@3", "0 leading 1", fates: "2 absorbed, 3 rejectedByShutDown"),
    ]

    /// Section 7: the outcome of an execution is told before the next one of its key starts.
    static let telling = [
        Story(
            "a value of the key waits until the outcome has been told", "debounce 10 slow",
            "1@0+0 >0 tellingTwice:1 2@1+0 >1 tell:1 tell:1", "0 trailing 1, 1 trailing 2 after tell:1",
            fates: "1 executed"),
        Story(
            "what has ended is not cancelled", "debounce 10 cancelRunning slow",
            "1@0+0 >0 tellingTwice:1 2@1+0 >1 stop@2 tell:1 tell:1", "0 trailing 1", fates: "1 executed, 2 cancelled"),
        Story(
            "a value starts beside it under concurrent", "debounce 10 concurrent slow",
            "1@0+0 >0 tellingTwice:1 2@1+0 >1 tell:1", "0 trailing 1, 1 trailing 2"),
        Story(
            "another key has its slot", "debounce 10 maxConcurrent 1 slow", "1@0+0 >0 tellingTwice:1 o:2@1+0 >1",
            "0 trailing 1, 1 trailing o: 2"),
        Story(
            "a caller that waits for the execution goes on waiting", "debounce 10 slow",
            "1@0+0 >0 tellingTwice:1 wait:k tell:1 tell:1", "0 trailing 1, resume 7 after tell:1"),
    ]

    /// Section 7: how many run at once, and how many keys are open.
    static let limits = [
        Story(
            "no more executions run at once than maxConcurrent allows", "debounce 10 maxConcurrent 2 slow",
            "a:1@0 b:2@0 c:3@0 >10 end:2", "10 trailing a: 1, 10 trailing b: 2, 10 trailing c: 3 after end:2"),
        Story(
            "slots are given in the order of due instants", "debounce 10 maxConcurrent 1 slow",
            "a:1@0+1 b:2@0+9 c:3@0+5 >10 end:1 end:3",
            "1 trailing a: 1 after >10, 5 trailing c: 3 after end:1, 9 trailing b: 2 after end:3"),
        Story(
            "slots are given in that order when a late timer finds another one", "debounce 10 maxConcurrent 1 slow",
            "a:1@0+0 >0 b:2@0+3 c:3@0+5 c:4@10+50 >11 end:1 end:2",
            "0 trailing a: 1, 3 trailing b: 2 after end:1, 5 trailing c: 3 after end:2"),
        Story(
            "a value that waited for its own key comes before one that was due later",
            "debounce 10 maxConcurrent 2 slow", "a:1@0+1 b:2@0+1 >1 a:3@2+1 c:4@2+2 >9 end:1 end:3",
            "1 trailing a: 1, 1 trailing b: 2, 3 trailing a: 3 after end:1, 4 trailing c: 4 after end:3"),
        Story(
            "values that were due at one instant start in the order in which they fell due",
            "debounce 10 maxConcurrent 2 slow", "a:1@0+1 b:2@0+1 >1 a:3@2+1 c:4@2+1 >3 end:1",
            "1 trailing a: 1, 1 trailing b: 2, 3 trailing a: 3 after end:1"),
        Story(
            "a value that replaces a waiting one waits by its own due instant", "debounce 10 maxConcurrent 1 slow",
            "a:1@0+0 b:2@1+0 c:3@2+0 >2 b:4@3+0 >4 end:1 end:3",
            "0 trailing a: 1 after >2, 2 trailing c: 3 after end:1, 3 trailing b: 4 ×2 since 1 after end:3",
            fates: "2 superseded"),
        Story(
            "a cancelled value leaves the queue", "debounce 10 maxConcurrent 1 slow",
            "a:1@0 b:2@0 c:3@0 >10 cancel:b@11 end:1", "10 trailing a: 1, 10 trailing c: 3 after end:1",
            fates: "2 cancelled"),
        Story(
            "a key may run twice at once under concurrent, but only one of its values waits",
            "debounce 10 maxConcurrent 2 concurrent slow", "1@0 2@20 3@40 4@60 >100 end:1",
            "10 trailing 1 after 2@20, 30 trailing 2 after 3@40, 70 trailing 4 ×2 since 40 after end:1",
            fates: "3 superseded, 4 running"),
        Story(
            "a submit that would exceed the capacity is rejected and changes nothing", "debounce 10 capacity 2",
            "a:1@0 b:2@0 c:3@1 due:c@1 >10", "due never, 10 trailing a: 1, 10 trailing b: 2",
            fates: "3 rejectedByCapacity"),
        Story("submits to open keys always pass", "debounce 10 capacity 1", "1@0 2@5", "", fates: "2 pending"),
        Story(
            "an idle gate makes room, also before a late timer fires", "debounce 10 capacity 1", "a:1@0 b:2@10",
            "10 trailing a: 1", fates: "2 pending"),
        Story(
            "a leading gate counts until it is idle", "throttle 10 capacity 1", "a:1@0 b:2@9 b:3@10",
            "0 leading a: 1, 10 leading b: 3", fates: "2 rejectedByCapacity, 3 executed"),
        Story(
            "a delay that is shortened later makes room earlier", "debounce 10 leading capacity 1",
            "a:1@0+1000 a:2@1+2 b:3@3", "0 leading a: 1, 3 leading b: 3"),
        Story(
            "flush and cancel make room", "debounce 10 capacity 1", "a:1@0 flush:a@1 b:2@1 cancel:b@2 c:3@2",
            "1 flush a: 1", fates: "3 pending"),
        Story(
            "a waiting value counts, a running one does not", "debounce 10 capacity 1 slow",
            "a:1@0+0 >0 a:2@1+0 >1 b:3@2 a:4@3 flush:a@4 end:1 b:5@5",
            "0 trailing a: 1, 4 flush a: 4 ×2 since 1 after end:1",
            fates: "3 rejectedByCapacity, 4 running, 5 pending"),
        Story(
            "a running key needs room again for its next burst", "debounce 10 capacity 1 slow", "a:1@0+0 b:2@1 a:3@2",
            "0 trailing a: 1 after b:2@1", fates: "1 running, 2 pending, 3 rejectedByCapacity"),
    ]

    /// Section 7: how often executions start, of all keys together.
    static let rates = [
        Story(
            "values that may not start yet wait, in the order of their due instants", "debounce 0 limit 1 10 1",
            "a:1@0 >0 b:2@1 >1 c:3@2 >2 >9 >10 >19 >20",
            "0 trailing a: 1, 1 trailing b: 2 after >10, 2 trailing c: 3 after >20"),
        Story(
            "what waits for the limit is joined by later values of its key", "debounce 0 limit 1 10 1 collect",
            "a:1@0 >0 b:2@1 b:3@5 >10", "0 trailing a: 1, 5 trailing b: 2+3 ×2 since 1 after >10"),
        Story(
            "at one instant everything due comes before the starts", "debounce 0 limit 1 10 1 collect",
            "a:1@0 >0 b:2@5 b:3@8+2 >10", "0 trailing a: 1, 10 trailing b: 2+3 ×2 since 5"),
        Story(
            "a flush does not pass it, and waits for it", "debounce 100 limit 1 10 1",
            "a:1@0 b:2@0 flush:*@1 wait:* >10 >11", "1 flush a: 1, 1 flush b: 2 after >11, resume 7 after >11"),
        Story(
            "the parts of a batch count for the limit", "debounce 3 limit 1 10 1 collect maxBatch 2",
            "1@0 2@0 3@0 4@0 5@0 >3 >12 >13 >22 >23",
            "3 trailing 1+2 ×2 since 0, 3 trailing 3+4 ×2 since 0 after >13, 3 trailing 5 after >23"),
        Story(
            "leading edges count for the limit", "debounce 5 both limit 1 10 1", "1@0 2@1 >9 >10",
            "0 leading 1, 6 trailing 2 after >10"),
        Story(
            "a restart counts for the limit", "debounce 0 limit 1 10 1 collect restart slow",
            "1@0 >0 2@3 >3 throw:1 >9 >10",
            "0 trailing 1, stop 1, 3 trailing 1+2 ×2 since 0 after >10"),
        Story(
            "both maxConcurrent and the limit have to allow a start", "debounce 0 limit 1 10 1 maxConcurrent 1 slow",
            "a:1@0 b:2@0 c:3@0 >0 >25 end:1 end:2 >34 >35",
            "0 trailing a: 1, 0 trailing b: 2 after end:1, 0 trailing c: 3 after >35"),
        Story(
            "a start counts as of when it happens, not of when its value was due", "debounce 0 limit 1 10 1",
            "a:1@0+1 b:2@0+2 >50 >59 >60", "1 trailing a: 1 after >50, 2 trailing b: 2 after >60"),
        Story(
            "a cancelled value takes nothing from the limit", "debounce 0 limit 1 10 1",
            "a:1@0 b:2@0 c:3@0 >0 cancel:b@5 >10", "0 trailing a: 1, 0 trailing c: 3 after >10"),
    ]

    /// Section 8: `maxBatch` limits what one execution gets.
    static let batches = [
        Story(
            "a start takes the first values, and the rest waits with the same edge, instant and oldest submit",
            "debounce 10 collect maxBatch 2 slow", "1@0 2@0 3@0 4@0 5@0 >10 end:2 end:4 end:5",
            "10 trailing 1+2 ×2 since 0, 10 trailing 3+4 ×2 since 0 after end:2, 10 trailing 5 after end:4"),
        Story(
            "later values join the rest", "debounce 10 collect maxBatch 2 slow",
            "1@0 2@0 3@0 >10 4@11 5@11 flush@12 end:2 end:4",
            "10 trailing 1+2 ×2 since 0, 12 flush 3+4 ×2 since 0 after end:2, 12 flush 5 after end:4"),
        Story(
            "a part that fails stops nothing", "debounce 10 collect maxBatch 1 slow", "1@0 2@0 >10 throw:1",
            "10 trailing 1, 10 trailing 2 after throw:1", fates: "1 failed, 2 running"),
        Story(
            "the rest is not skipped, though a part is running", "debounce 10 collect maxBatch 1 skip slow",
            "1@0 2@0 >10 3@11+0 >11 end:1", "10 trailing 1, 10 trailing 2 after end:1", fates: "3 absorbed"),
        Story(
            "under concurrent a key's parts follow each other at once",
            "debounce 10 collect maxBatch 2 concurrent slow", "a:1@0 a:2@0 a:3@0 b:4@0 >10",
            "10 trailing a: 1+2 ×2 since 0, 10 trailing a: 3, 10 trailing b: 4"),
        Story(
            "the parts of one key do not hold back other keys that wait for a slot",
            "debounce 10 collect maxBatch 1 maxConcurrent 1 slow",
            "a:1@0 a:2@0 a:3@0 b:4@0 c:5@0 c:6@0 >10 end:1 end:4 end:5 end:2 end:6",
            "10 trailing a: 1, 10 trailing b: 4 after end:1, 10 trailing c: 5 after end:4, "
                + "10 trailing a: 2 after end:5, 10 trailing c: 6 after end:2, 10 trailing a: 3 after end:6"),
        Story(
            "a caller of a flush waits for every part that has its submits, and for no later one",
            "debounce 10 collect maxBatch 2 slow", "1@0 2@0 3@0 flush@1 wait:k 4@2 5@2 6@2 7@2 flush@3 end:2 end:4",
            "1 flush 1+2 ×2 since 0, 3 flush 3+4 ×2 since 0 after end:2, "
                + "3 flush 5+6 ×2 since 0 after end:4, resume 7 after end:4"),
        Story(
            "a caller of a flush waits for the part that runs when a cancel drops the rest",
            "debounce 10 collect maxBatch 2 slow", "1@0 2@0 3@0 4@0 5@0 flush@1 wait:k end:2 cancel@2 end:4",
            "1 flush 1+2 ×2 since 0, 1 flush 3+4 ×2 since 0 after end:2, resume 7 after end:4",
            fates: "4 executed, 5 cancelled"),
        Story(
            "a caller of a flush waits for parts that run at once, in whichever order they end",
            "debounce 10 collect maxBatch 1 concurrent slow", "1@0 2@0 3@0 flush@1 wait:k end:3 end:1 end:2",
            "1 flush 1, 1 flush 2, 1 flush 3, resume 7 after end:2"),
        Story(
            "a cancel drops the rest, and leaves the part that runs", "debounce 10 collect maxBatch 1 slow",
            "1@0 2@0 3@0 >10 cancel@11 end:1", "10 trailing 1", fates: "1 executed, 2 cancelled, 3 cancelled"),
    ]

    /// Section 7: a bound of what is pending.
    static let overflow = [
        Story(
            "a submit beyond the bound is rejected, and changes nothing", "debounce 10 maxPending 2",
            "a:1@0 b:2@1 c:3@2 >20", "10 trailing a: 1 after >20, 11 trailing b: 2 after >20",
            fates: "3 rejectedAsTooMany"),
        Story(
            "or absorbed", "debounce 10 maxPending 1 dropNewest", "a:1@0 b:2@1 >10", "10 trailing a: 1",
            fates: "2 absorbed"),
        Story(
            "or takes the place of the oldest, of whichever key", "debounce 10 maxPending 2 dropOldest",
            "a:1@0 b:2@1 a:3@2 c:4@3 >20", "12 trailing a: 3 ×2 since 0 after >20, 13 trailing c: 4 after >20",
            fates: "1 superseded, 2 superseded"),
        Story(
            "a submit that replaces a pending value of its key passes", "debounce 10 maxPending 1",
            "1@0 2@1 >11", "11 trailing 2 ×2 since 0", fates: "1 superseded"),
        Story(
            "so does one that starts at once", "throttle 10 maxPending 1", "a:1@0 a:2@1 b:3@2 b:4@3 >12",
            "0 leading a: 1, 2 leading b: 3, 10 trailing a: 2 after >12",
            fates: "4 rejectedAsTooMany"),
        Story(
            "what waits for a slot counts, and what runs does not", "debounce 10 maxPending 1 maxConcurrent 1 slow",
            "a:1@0+0 >0 b:2@1+0 >1 c:3@2 end:1 c:4@3 >13", "0 trailing a: 1, 1 trailing b: 2 after end:1",
            fates: "3 rejectedAsTooMany, 4 pending"),
        Story(
            "what the oldest leaves behind stays due when it was: maxWait counts from it",
            "debounce 10 maxWait 15 collect maxPending 2 dropOldest", "1@0 2@5 3@10 >15",
            "15 maxWait 2+3 ×2 since 0", fates: "1 superseded"),
        Story(
            "a window whose only value is dropped goes on", "throttle 10 maxPending 1 dropOldest",
            "a:1@0 b:2@0 a:3@1 b:4@2 a:5@3 >10", "0 leading a: 1, 0 leading b: 2, 10 trailing a: 5",
            fates: "3 superseded, 4 superseded"),
        Story(
            "whether there is room does not depend on a timer", "debounce 10 maxPending 1", "a:1@0 b:2@10 >20",
            "10 trailing a: 1, 20 trailing b: 2"),
        Story(
            "a caller of a flush does not wait for a value that was dropped",
            "debounce 10 maxPending 1 dropOldest maxConcurrent 1 slow", "a:1@0+0 >0 b:2@1 flush:b@1 wait:b c:3@2",
            "0 trailing a: 1, resume 7 after c:3@2", fates: "2 superseded"),
    ]
}
