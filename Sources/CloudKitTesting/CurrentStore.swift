internal import CloudStore

/// The current store of a cloud. A restart of the service replaces it.
struct CurrentStore: CloudStore {
    /// Returns the store. Throws if the cloud was released.
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
