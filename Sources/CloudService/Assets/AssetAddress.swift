import CloudWire
import System

/// Where the files of an environment are sent and fetched, as a request's client reaches the service.
struct AssetAddress: Sendable {
    /// `/asset/1/{container}/{environment}`, behind the server's own address.
    let prefix: String

    init(_ route: ServiceRoute, _ request: WireRequest, publicURL: String?) {
        let base = publicURL ?? request.serverURL ?? request.header("Host").map { "http://\($0)" } ?? ""
        prefix = "\(base)/asset/1/\(PercentEncoding.encoded(route.container))/\(route.environment)"
    }

    /// The ticket is in the query, since logs have the path.
    func upload(_ ticket: String) -> String { "\(prefix)/upload?t=\(ticket)" }

    /// With a literal `${f}` where a client may put a name for the file, as Apple's.
    func download(_ file: StoredAsset, _ ticket: String) -> String {
        "\(prefix)/file/\(file.checksumInAddress)/${f}?t=\(ticket)"
    }
}
