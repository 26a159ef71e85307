import Lull

let answer = Debouncer(
    collectingFor: .seconds(2), maxWait: .seconds(10), whileRunning: .restart
) { (messages: [String]) in
    let text = try await model.answer(to: messages)
    try Task.checkCancellation()
    await chat.send(text)
}
answer(message)
