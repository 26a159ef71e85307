import Testing

@testable import LullCharts

@Suite("The scales and labels of a chart")
struct ScaleTests {
    @Test
    func `a linear axis is labelled at round values, ends included`() {
        #expect(Scale.linear.ticks(in: 0...10, about: 5) == [0, 2, 4, 6, 8, 10])
        #expect(Scale.linear.ticks(in: -3...3, about: 3) == [-2, 0, 2])
        #expect(Scale.linear.ticks(in: 7...7, about: 5) == [7])
    }

    @Test
    func `a logarithmic axis is labelled at powers of ten, at more values if those are few, at fewer if they are many`()
    {
        #expect(Scale.logarithmic.ticks(in: 1...10_000_000, about: 8).count == 8)
        #expect(Scale.logarithmic.ticks(in: 20...1000, about: 6) == [20, 50, 100, 200, 500, 1000])
        #expect(Scale.logarithmic.ticks(in: 1...1e12, about: 6) == [1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12])
    }

    @Test
    func `on a scale of nines each tenth of the rest has the same length`() {
        let axis = Axis("share", .share, .nines, 0...0.999)
        let places = [0, 0.9, 0.99, 0.999].map(axis.position)
        for (place, wanted) in zip(places, [0, 1.0 / 3, 2.0 / 3, 1]) { #expect(abs(place - wanted) < 1e-9) }
    }

    @Test
    func `values beyond an axis are drawn at its end`() {
        let axis = Axis("time", .nanoseconds, .logarithmic, 10...1000)
        #expect(axis.position(0) == 0)
        #expect(axis.position(-5) == 0)
        #expect(axis.position(1e9) == 1)
    }

    @Test
    func `values are written in suitable units`() {
        #expect(
            [0, 80, 1500, 20e6, 3e9].map(Axis.Quantity.nanoseconds.text) == ["0", "80 ns", "1.5 µs", "20 ms", "3 s"])
        #expect([1, 999, 1000 - 1e-10, 10e6].map(Axis.Quantity.count.text) == ["1", "999", "1k", "10M"])
        #expect([0, 0.5, 0.999].map(Axis.Quantity.share.text) == ["0 %", "50 %", "99.9 %"])
    }

    @Test
    func `bounds end at round values and contain all values`() {
        #expect(Axis.bounds(of: [35, 1600], .logarithmic) == 20...2000)
        #expect(Axis.bounds(of: [100, 100], .logarithmic) == 100...200)
        #expect(Axis.bounds(of: [3, 17], .linear) == 0...20)
        #expect(Axis.bounds(of: [], .linear) == 0...1)
    }
}
