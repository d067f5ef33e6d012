import Foundation
import Testing

/// The public symbols of the module CloudKit, as the compiler tells them from the products of the build that this test
/// is part of.
struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Identifier: Decodable { var precise: String }
        struct Kind: Decodable { var identifier: String }
        struct Comment: Decodable { var lines: [Line] }
        struct Line: Decodable { var text: String }
        struct Location: Decodable { var uri: String }
        struct Fragment: Decodable { var spelling: String }
        struct Availability: Decodable {
            var isUnconditionallyDeprecated: Bool?
            var isUnconditionallyUnavailable: Bool?
            var message: String?
            var renamed: String?
        }

        var identifier: Identifier
        var kind: Kind
        var pathComponents: [String]
        var docComment: Comment?
        /// None for what the compiler makes itself.
        var location: Location?
        var availability: [Availability]?
        var declarationFragments: [Fragment]

        var path: String { pathComponents.joined(separator: ".") }
        var declaration: String { declarationFragments.map(\.spelling).joined() }
        var isDeprecated: Bool { availability?.contains { $0.isUnconditionallyDeprecated == true } == true }
        var isUnavailable: Bool { availability?.contains { $0.isUnconditionallyUnavailable == true } == true }
        /// What the compiler offers instead.
        var instead: String? { availability?.compactMap { $0.renamed ?? $0.message }.first }
    }

    struct Relationship: Decodable {
        var kind: String
        var source: String
        var targetFallback: String?
    }

    var symbols: [Symbol]
    var relationships: [Relationship]

    /// The names of the classes that conform to `protocolName`.
    func classes(conformingTo protocolName: String) -> Set<String> {
        let sources = Set(
            relationships.filter { $0.kind == "conformsTo" && $0.targetFallback == protocolName }.map(
                \.source))
        return Set(
            symbols.filter { sources.contains($0.identifier.precise) && $0.kind.identifier == "swift.class" }
                .map(\.path))
    }

    // MARK: Asking the compiler

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the build's products: this program lies in it.
    private static var products: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Takes less than a second.
    static func extracted() throws -> SymbolGraph {
        let output = FileManager.default.temporaryDirectory
            .appending(path: "symbols-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: output) }
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = try arguments(output: output)
        let messages = Pipe()
        compiler.standardError = messages
        try compiler.run()
        let text = String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0, "\(text)")
        var all = SymbolGraph(symbols: [], relationships: [])
        let files = try FileManager.default.contentsOfDirectory(at: output, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "json" {
            let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: file))
            all.symbols += graph.symbols
            all.relationships += graph.relationships
        }
        return all
    }

    private static func arguments(output: URL) throws -> [String] {
        #if arch(arm64)
            let target = "aarch64-unknown-linux-gnu"
        #else
            let target = "x86_64-unknown-linux-gnu"
        #endif
        let products = products
        var maps: [URL] = []
        for folder in [root.appending(path: "Sources"), products] {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
                let map = folder.appending(path: "\(name)/module.modulemap")
                if FileManager.default.fileExists(atPath: map.path) { maps.append(map) }
            }
        }
        return [
            "swift", "symbolgraph-extract", "-module-name", "CloudKit", "-target", target,
            "-I", products.appending(path: "Modules").path, "-output-dir", output.path,
            "-minimum-access-level", "public", "-skip-synthesized-members", "-skip-inherited-docs",
        ] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
    }
}
