import CloudService
import CloudStore
import Crypto

extension Route {
    /// Maximum resources of one request that no service handles. Nil for requests to a service, whose
    /// endpoints have their own bounds. The compiler enforces a line for each route.
    func bounds(_ options: CloudServerOptions) -> RequestBounds? {
        let limits = options.limits
        switch self {
        case .service: return nil
        case .courier:
            let rows = 4 * limits.subscriptionsMax + Self.rowsFixed
            return RequestBounds(
                memoryBytes: Self.memoryFixed + rows * (limits.pushBytesMax + Self.headBytes),
                answerBytes: limits.pushBytesMax + Self.headBytes, rowsRead: rows, rowsWritten: rows,
                diskBytes: (2 * rows + Self.rowsFixed) * Self.pageBytes,
                countedBy: ["courierPollsMax", "devicesMax", "subscriptionsMax", "pushBytesMax"])
        case .asset(_, isUpload: true):
            return RequestBounds(
                memoryBytes: Self.memoryFixed, answerBytes: Self.headBytes, rowsRead: Self.rowsFixed,
                diskBytes: Int(clamping: limits.assets.fileBytesMax),
                countedBy: [
                    "fileBytesMax", "uploadsMax", "FairCount", "uploadMillisecondsMax", "unsavedBytesMax",
                    "unsavedFilesMax",
                ])
        case .asset(_, isUpload: false):
            return RequestBounds(
                memoryBytes: Self.memoryFixed, answerBytes: Int(clamping: limits.assets.fileBytesMax),
                rowsRead: Self.rowsFixed, countedBy: ["fileBytesMax", "downloadsMax", "FairCount"])
        case .signIn, .signInForm:
            return RequestBounds(
                memoryBytes: Self.memoryFixed + Self.hashBytes,
                answerBytes: Self.pageBytesMax, rowsRead: Self.rowsFixed, rowsWritten: Self.rowsFixed,
                diskBytes: 3 * Self.rowsFixed * Self.pageBytes,
                countedBy: ["signInsWaitingMax", "FairWorker", "AttemptLimiter", "signInBytesMax"])
        case .signOut:
            let rows = limits.devicesMax + Self.rowsFixed
            return RequestBounds(
                memoryBytes: Self.memoryFixed, answerBytes: Self.headBytes, rowsRead: rows, rowsWritten: rows,
                diskBytes: 3 * rows * Self.pageBytes,
                countedBy: ["signInsWaitingMax", "FairWorker", "devicesMax"])
        case .sessions:
            let rows = SessionTable.sessionsMaxOfAccount + Self.rowsFixed
            return RequestBounds(
                memoryBytes: Self.memoryFixed, answerBytes: Self.headBytes + rows * Self.sessionBytes,
                rowsRead: rows, rowsWritten: 1, diskBytes: 3 * Self.pageBytes,
                countedBy: ["signInsWaitingMax", "FairWorker", "sessionsMaxOfAccount"])
        case .health:
            return RequestBounds(
                memoryBytes: Self.memoryFixed, answerBytes: Self.headBytes, diskBytes: Self.pageBytes,
                countedBy: ["ServerStatus", "DiskProbe"])
        case .metrics:
            return RequestBounds(
                memoryBytes: Self.memoryFixed, answerBytes: Self.pageBytesMax, countedBy: ["ServerStatus"])
        case .root, .dashboard:
            return RequestBounds(
                memoryBytes: Self.memoryFixed, answerBytes: 2 * Self.pageBytesMax, rowsRead: 1,
                countedBy: ["headerBytesMax", "OperatorHandler"])
        case .operators:
            // Endpoints with data have their own bounds in the service. These are for the others.
            return RequestBounds(
                memoryBytes: Self.memoryFixed + Self.hashBytes + 4 * OperatorEndpoint.schemaBytesMax,
                answerBytes: 3 * SchemaLanguage.textBytesMax,
                rowsRead: max(2 * OperatorCounting.rowsMax, OperatorHistory.rowsReadMax),
                rowsWritten: IndexBuilding.schemaChangeRowsMax,
                diskBytes: 3 * IndexBuilding.schemaChangeRowsMax * Self.pageBytes
                    + 2 * SchemaLanguage.textBytesMax,
                countedBy: [
                    "OperatorGate", "OperatorHandler", "OperatorCounting", "AttemptLimiter",
                    "signInsWaitingMax", "textBytesMax", "schemaChangeRowsMax",
                ])
        case .live, .nowhere:
            return RequestBounds(
                memoryBytes: Self.memoryFixed, answerBytes: Self.headBytes, countedBy: ["headerBytesMax"])
        }
    }

    /// One route of each kind that no service handles, with its name.
    static let bounded: [(name: String, route: Route)] = [
        ("courier", Route(path: "/device/1/c/production/courier")),
        ("asset upload", Route(path: "/asset/1/c/production/upload")),
        ("asset download", Route(path: "/asset/1/c/production/file/")),
        ("sign-in page", .signIn),
        ("sign-in form", .signInForm), ("sign-out", .signOut),
        ("sessions", .sessions), ("health", .health), ("live", .live),
        ("metrics", .metrics), ("root", .root), ("dashboard", .dashboard),
        ("operator API", .operators), ("no such path", .nowhere),
    ]

    /// SQLite's page cache, and a piece of a file in transfer.
    private static let memoryFixed = 4 << 20
    /// Memory of scrypt for a password: 128 bytes, r times N times.
    private static let hashBytes =
        128 * PasswordHash.Cost.standard.blockSize << PasswordHash.Cost.standard.costLog2
    private static let rowsFixed = 64
    /// A session in JSON: an ID, times, an address, and 120 characters of the client's `User-Agent`.
    private static let sessionBytes = 1 << 10
    private static let pageBytes = 4_096 + 24
    /// A short response, which may repeat names of the request.
    private static let headBytes = 16 << 10
    /// A page, or the metrics' text, without the operator's names.
    private static let pageBytesMax = 64 << 10
}
