import Testing

/// Limits on the size of a type over all its extensions: extensions in other files don't make a large type small.
@Suite struct TypeSizeTests {
    struct Limit {
        var lines = 900
        /// Not held for types with fewer than ten functions: options and rows may have as many values as they need.
        var changingProperties = 15
        var functions = 80
    }

    /// The types that exceed the limits, each with a limit of its own and the reason.
    static let exceptions: [String: Limit] = [
        // An option for each limit of the service.
        "CloudService/ServiceLimits": Limit(changingProperties: 49),
        // What libcurl's callbacks need of one transfer.
        "HTTPClient/CurlTransfer": Limit(changingProperties: 16),
    ]

    @Test func noTypeIsLargeOverAllItsExtensions() {
        let sizes = TypeSize.sizes(of: TidyTests.sources)
        print("lines, stored properties that change, functions: the twenty largest types")
        for size in sizes.prefix(20) { print(size.description) }
        let large = sizes.filter { Self.exceeds($0, Self.exceptions[$0.name] ?? Limit()) }
        #expect(large.isEmpty, "\n\(large.map(\.description).joined(separator: "\n"))")
    }

    @Test func everyExceptionIsStillNeeded() {
        let sizes = TypeSize.sizes(of: TidyTests.sources)
        let needed = Set(sizes.filter { Self.exceeds($0, Limit()) }.map(\.name))
        let stale = Self.exceptions.keys.filter { !needed.contains($0) }.sorted()
        #expect(stale.isEmpty, "\(stale)")
    }

    @Test func aTypeIsMeasuredOverAllItsExtensions() {
        let first = SourceFile(
            path: "Sources/Room/A.swift",
            text: """
                final class A {
                    private var count = 0
                    private let state = Lock(State())
                    var double: Int { count * 2 }
                    struct Nested {
                        var value = 1
                    }
                    init() {}
                }
                struct Empty {}
                """)
        let second = SourceFile(
            path: "Sources/Room/B.swift",
            text: """
                extension A {
                    static var shared = A()
                    // func notCode() {}
                    class func make() -> A { A() }
                    func run() {
                        var local = 1
                        func inner() {}
                    }
                }
                """)
        let sizes = TypeSize.sizes(of: [first, second])
        #expect(sizes.map(\.name) == ["Room/A", "Room/A.Nested", "Room/Empty"])
        #expect(sizes.map(\.lines) == [15, 3, 1])
        #expect(sizes.map(\.changingProperties) == [2, 1, 0])
        #expect(sizes.map(\.functions) == [3, 0, 0])
    }

    private static func exceeds(_ size: TypeSize, _ limit: Limit) -> Bool {
        size.lines > limit.lines || size.functions > limit.functions
            || (size.functions >= 10 && size.changingProperties > limit.changingProperties)
    }
}
