import LullDispatch

let queue = DelayedPreemptiveDispatchQueue()

func submitted(_ task: Int, delay: Double) {
    queue.delay(delay) { print("task", task) }
}

func cancelled() {
    queue.cancel()
}
