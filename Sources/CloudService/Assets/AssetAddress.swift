import CloudStore
import CloudWire
import Seams

/// Where the files of an environment are sent and fetched, as a request's client reaches the service.
struct AssetAddress: Sendable {
    /// `/asset/1/{container}/{environment}`, behind the server's own address.
    let prefix: String

    init(_ route: ServiceRoute, _ request: WireRequest, publicURL: String?) {
        let base = publicURL ?? request.serverURL ?? request.header("Host").map { "http://\($0)" } ?? ""
        prefix = "\(base)/asset/1/\(ServiceRoute.percentEncoded(route.container))/\(route.environment)"
    }

    /// The ticket is in the query, since logs have the path.
    func upload(_ ticket: String) -> String { "\(prefix)/upload?t=\(ticket)" }

    /// With a literal `${f}` where a client may put a name for the file, as Apple's.
    func download(_ file: StoredAsset, _ ticket: String) -> String {
        "\(prefix)/file/\(file.checksumInAddress)/${f}?t=\(ticket)"
    }
}

extension CloudService {
    /// Downloads' ends are rounded up to this, so that a record that is fetched again soon has the same address and
    /// caches know it.
    private static let expiryStepMilliseconds: Int64 = 3_600_000

    /// How the answer to a request tells of files: with an address that leads to each for some hours.
    func assetForm(for request: PreparedRequest) -> AssetForm? {
        guard let address = request.assets else { return nil }
        let step = Self.expiryStepMilliseconds
        let expires = (clock.nowMilliseconds() + limits.assets.downloadMilliseconds + step - 1) / step * step
        return AssetForm { kept, zoneID in
            guard let file = StoredAsset(kept) else { return kept }
            let owner = zoneID?.ownerRecordName
            let database = owner.map { DatabaseKey.privateDatabase(of: $0) } ?? .publicDatabase
            var told = file.told(in: database.scope)
            var claims = AssetClaims(.download, database: database, expiresMilliseconds: expires)
            claims.file = file
            // Without a secret, as when the disk is full, the record is told without the address.
            told.downloadURL = (try? claims.signed(self.assetSecret())).map { address.download(file, $0) }
            return told
        }
    }
}
