import Lull

let attempt = Debouncer(collectingFor: .seconds(1.5), maxCount: 4) { (digits: [Character]) in
    if digits.count == 4 { lock.open(with: String(digits)) }
    lock.clear()
}

func pressed(_ digit: Character) {
    attempt(digit)
}
