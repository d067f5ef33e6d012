import Testing

@testable import Yap

/// Extensions of types that aren't those of their collection.
struct RegisteredTypeTests {
    private let stage: TodoStage

    init() throws { stage = try TodoStage() }

    /// The codes that registering extensions of each kind ends with. Their collection has metadata of `Stamp`.
    private func codes<Object: Sendable, Metadata: Sendable>(
        _ type: Object.Type, _ title: any KeyPath<Object, String> & Sendable, metadata: Metadata.Type,
        in collection: String
    ) -> [YapDatabaseError.Code?] {
        let index = YapDatabaseSecondaryIndex(
            "index", of: type, metadata: metadata, in: collection, version: "1", including: { _, _ in true }
        ) {
            $0.column(title, "title")
        }
        let search = YapDatabaseFullTextSearch(
            "search", of: type, metadata: metadata, in: collection, version: "1",
            including: { _, _ in true }
        ) {
            $0.column(title, "title")
        }
        let view = YapDatabaseAutoView(
            "view", of: type, metadata: metadata, in: collection, version: "1", group: { _, _, _ in 1 })
        let actions = YapDatabaseActionManager(
            "actions", of: type, metadata: metadata, in: collection, version: "1"
        ) { _, _ in [] }
        let extensions: [any YapDatabaseNamedExtension] = [index, search, view, actions]
        return extensions.map { one in code { try stage.database.blocking.register(one) } }
    }

    @Test func anExtensionOfAnotherTypeOrWithOtherMetadataIsRefused() throws {
        let mistake = Array(repeating: YapDatabaseError.Code.typeMismatch, count: 4)
        #expect(codes(Page.self, \.title, metadata: Stamp.self, in: "todos") == mistake)
        #expect(codes(Todo.self, \.title, metadata: Page.self, in: "todos") == mistake)
        let missing = Array(repeating: YapDatabaseError.Code.missingRegistration, count: 4)
        #expect(codes(String.self, \.self, metadata: Stamp.self, in: "notes") == missing)
        #expect(codes(Todo.self, \.title, metadata: Stamp.self, in: "todos") == [nil, nil, nil, nil])
    }

    @Test func anObjectOfAnotherTypeIsAnErrorThatNamesTheRow() throws {
        let error = #expect(throws: YapDatabaseError.self) {
            try extensionObject(7, as: Todo.self, for: "index", of: "todos", key: "a")
        }
        #expect(error?.code == .typeMismatch && error?.collection == "todos" && error?.key == "a")
        #expect(try extensionObject(Todo(title: "a"), as: Todo.self, for: "index", of: "todos").title == "a")
    }
}
