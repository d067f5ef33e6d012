import CloudWire
import System

/// The addresses for uploads and downloads of an environment's files, as the client of a request reaches the
/// service.
struct AssetAddress: Sendable {
    /// `/asset/1/{container}/{environment}`, after the server's own address.
    let prefix: String

    init(_ route: ServiceRoute, _ request: WireRequest, publicURL: String?) {
        let base = publicURL ?? request.serverURL ?? request.header("Host").map { "http://\($0)" } ?? ""
        prefix = "\(base)/asset/1/\(PercentEncoding.encoded(route.container))/\(route.environment)"
    }

    /// The ticket is in the query, because logs contain the path.
    func upload(_ ticket: String) -> String { "\(prefix)/upload?t=\(ticket)" }

    /// With a literal `${f}` where a client may insert a file name, as in Apple's addresses.
    func download(_ file: StoredAsset, _ ticket: String) -> String {
        "\(prefix)/file/\(file.checksumInAddress)/${f}?t=\(ticket)"
    }
}
