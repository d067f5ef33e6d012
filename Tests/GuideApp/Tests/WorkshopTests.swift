import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Actors, and nothing but `await`.
@Suite @MainActor struct WorkshopTests {
    @Test func aModelOnTheMainActorShowsWhatTheCloudHas() async throws {
        let home = try Home()
        let phone = home.phone.asDefault { WorkshopModel() }
        let laptop = home.laptop.asDefault { WorkshopModel() }
        try await phone.add(["saw", "hammer"])
        await laptop.reload()
        #expect(laptop.tools.map(\.name) == ["hammer", "saw"] && laptop.message == nil)
        home.cloud.disconnect(home.laptop)
        await laptop.reload()
        #expect(laptop.message == "No network" && laptop.tools.count == 2)
    }

    @Test func noUseIsLostThoughManyCountAtOnce() async throws {
        let home = try Home(TestCloud(execution: .threads))
        let models = (0..<4).map { _ in WorkshopModel(container: home.cloud.device(user: "ada").container) }
        try await models[0].add(["saw"])
        let tool = try #require(models[0].tools.first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for model in models { for _ in 0..<3 { group.addTask { try await model.use(tool) } } }
            try await group.waitForAll()
        }
        await models[0].reload()
        #expect(models[0].tools.first?.uses == 12)
    }
}
