internal import CloudStore

/// The store that a cloud has at the moment: another one takes its place when the service is restarted.
struct CurrentStore: CloudStore {
    /// Throws when the cloud is no more.
    let present: @Sendable () throws -> any CloudStore

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try present().read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        try present().write(body)
    }

    var checkpointIsDue: Bool { (try? present())?.checkpointIsDue ?? false }

    func checkpoint() { (try? present())?.checkpoint() }
}
