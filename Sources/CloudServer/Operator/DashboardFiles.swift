import Crypto
import DashboardPage
import HTTPServer
import System

/// The files of the dashboard, embedded in the binary.
///
/// Their address contains a digest of all files, so that browsers can cache them forever, and a new version
/// of the server has another address. Relative imports between scripts stay within one version.
package struct DashboardFiles: Sendable {
    private struct File {
        let type: String
        let bytes: [UInt8]
    }

    /// The policy of every page: nothing inline, nothing of another origin, no text inserted as HTML.
    package static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

    private static let prefix = "/dashboard/files/"

    private let files: [String: File]
    private let folder: String
    /// The page of every address. Its scripts read the address.
    let page: String
    private let root: String
    private let device: String

    /// Reads the embedded files.
    ///
    /// - Throws: `CryptoError` if the system has no memory for a digest.
    package init() throws {
        var files: [String: File] = [:]
        var pages: [String: String] = [:]
        var digests: [UInt8] = []
        for index in 0..<dashboardPageFileCount() {
            let file = dashboardPageFile(index)
            let path = String(cString: file.path)
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            digests += try SHA256.hash(Array(path.utf8)) + SHA256.hash(bytes)
            if path.hasSuffix(".html") {
                pages[path] = String(decoding: bytes, as: UTF8.self)
            } else {
                files[path] = File(type: Self.type(of: path), bytes: bytes)
            }
        }
        self.files = files
        folder = Self.prefix + Hex.text(Array(try SHA256.hash(digests).prefix(8)))
        page = Self.replacing("{files}", with: folder, in: pages["index.html"] ?? "")
        root = Self.replacing("{files}", with: folder, in: pages["root.html"] ?? "")
        device = Self.replacing("{files}", with: folder, in: pages["device.html"] ?? "")
    }

    /// The page for a device's file. It is served by `yap sync inspect --open`, not by a cloud server.
    package var devicePage: HTTPResponse { Reply.page(device, status: 200, policy: Self.policy) }

    /// Returns the page at the address without a path.
    ///
    /// - Parameter linksDashboard: whether the dashboard is served.
    func rootPage(linksDashboard: Bool) -> String {
        let link = "<p><a class=\"button wide\" href=\"/dashboard\">Open the dashboard</a></p>"
        return Self.replacing("{dashboard}", with: linksDashboard ? link : "", in: root)
    }

    /// Returns the response to a request for a file, or nil if the path names none.
    package func response(to path: String) -> HTTPResponse? {
        guard path.hasPrefix(folder + "/"), let file = files[String(path.dropFirst(folder.count + 1))] else {
            return nil
        }
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", file.type), ("Cache-Control", "public, max-age=31536000, immutable"),
                ("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", Self.policy),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ], body: .bytes(file.bytes))
    }

    /// Returns true if a path is a file's address of any version.
    package static func isFile(_ path: String) -> Bool { path.hasPrefix(prefix) }

    private static func type(of path: String) -> String {
        switch path.split(separator: ".").last {
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    private static func replacing(_ mark: String, with text: String, in page: String) -> String {
        var result = ""
        var rest = page[...]
        while let range = rest.firstRange(of: mark) {
            result += rest[..<range.lowerBound] + text
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}
