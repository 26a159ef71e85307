import Testing

/// The semantics, rule by rule.
@Suite("Stories")
struct StoryTests {
    @Test(arguments: Story.all)
    func `it goes as the semantics say`(_ story: Story) throws {
        let (transcript, fates) = try story.play()
        #expect(transcript == story.transcript)
        #expect(fates == story.fates)
    }
}
