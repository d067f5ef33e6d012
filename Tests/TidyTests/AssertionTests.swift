import Testing

/// A test without an assertion passes whatever the code does.
@Suite struct AssertionTests {
    @Test func eachTestAssertsSomething() {
        let functions = Repository.swiftFiles(in: ["Tests"]).flatMap(TestFunction.functions)
        #expect(functions.count { $0.isTest } > 3_000)
        let silent = Self.silent(functions)
        #expect(silent.isEmpty, "\n\(silent.map(\.place).joined(separator: "\n"))")
    }

    @Test func aTestAssertsByItselfOrByAHelperOfItsRoom() {
        let support = SourceFile(
            path: "Tests/Support/S.swift",
            text: """
                func expectShared() { #expect(true) }
                """)
        let other = SourceFile(
            path: "Tests/Other/O.swift",
            text: """
                func helper() { #expect(true) }
                """)
        let room = SourceFile(
            path: "Tests/Room/R.swift",
            text: """
                struct Tests {
                    func close() {}
                    func check() { #expect(true) }
                    func check(twice: Bool) { check() }
                    @Test func direct() throws {
                        _ = try #require(a)
                    }
                    @Test(arguments: [
                        1, 2,
                    ]) func indirect(number: Int) { check(twice: true) }
                    @Test func shared() { expectShared() }
                    // #expect(true)
                    @Test func silent() { close() }
                    @Test func foreign() {
                        "#expect(true)".helper()
                    }
                }
                """)
        let functions = [support, other, room].flatMap(TestFunction.functions)
        #expect(
            functions.filter(\.isTest).map(\.name) == ["direct", "indirect", "shared", "silent", "foreign"])
        #expect(Self.silent(functions).map(\.name) == ["silent", "foreign"])
    }

    /// The tests that neither assert nor call a helper that does.
    ///
    /// A called name means the functions of that name in the file, else those in the room, else those in
    /// `Tests/Support`. If there are several, each must assert.
    private static func silent(_ functions: [TestFunction]) -> [TestFunction] {
        var byName = [String: [Int]]()
        for (index, function) in functions.enumerated() {
            for scope in [function.path, String(function.room)] {
                byName["\(scope) \(function.name)", default: []].append(index)
            }
        }
        var isAsserting = functions.map(\.asserts)
        var isChanged = true
        while isChanged {
            isChanged = false
            for (index, function) in functions.enumerated() where !isAsserting[index] {
                let asserts = function.calls.contains { name in
                    let scopes = [function.path, String(function.room), "Support"]
                    let called = scopes.lazy.compactMap { byName["\($0) \(name)"] }.first ?? []
                    let others = called.filter { $0 != index }
                    return !others.isEmpty && others.allSatisfy { isAsserting[$0] }
                }
                if asserts {
                    isAsserting[index] = true
                    isChanged = true
                }
            }
        }
        return functions.indices.filter { functions[$0].isTest && !isAsserting[$0] }.map { functions[$0] }
    }
}
