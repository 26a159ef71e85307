import Lull
import SwiftUI

/// An editor that saves when typing pauses, with a search that shows no stale answers.
@main
struct DraftsApp: App {
    @State private var model = DraftsModel()

    var body: some Scene {
        WindowGroup {
            DraftsView(model: model)
        }
    }
}

struct DraftsView: View {
    @Bindable var model: DraftsModel
    @Environment(\.scenePhase) private var phase

    var body: some View {
        VStack {
            // The field follows every key; the results follow when typing pauses.
            TextField("Search", text: $model.query)
            List(model.results, id: \.self) { title in
                Text(title)
            }
            TextEditor(text: $model.draft)
            Text(model.status)
        }
        .onChange(of: phase) {
            // The system may end the app in the background, without another word.
            if phase == .background { Task { await model.close() } }
        }
    }
}
