/// Configuration and group of operations that set none themselves.
struct OperationDefaults: Sendable {
    var configuration: CKOperation.Configuration?
    var group: CKOperationGroup?

    /// Sets the group and the values that `operation` leaves unset.
    func fill(_ operation: CKOperation) {
        if operation.group == nil { operation.group = group }
        guard let configuration else { return }
        operation.configuration = operation.ownConfiguration.filled(from: configuration)
    }
}

extension CKContainer {
    /// Calls `body` with a container that uses `configuration` and `group` as the defaults of its operations.
    /// - Returns: the result of `body`.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKContainer) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Calls `body` with a container that uses `configuration` and `group` as the defaults of its operations.
    /// - Returns: the result of `body`.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: @Sendable (CKContainer) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(
        _ configuration: CKOperation.Configuration?, _ group: CKOperationGroup?
    ) -> CKContainer {
        CKContainer(core: core, defaults: OperationDefaults(configuration: configuration, group: group))
    }
}

extension CKDatabase {
    /// Calls `body` with a database that uses `configuration` and `group` as the defaults of its operations.
    /// - Returns: the result of `body`.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKDatabase) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Calls `body` with a database that uses `configuration` and `group` as the defaults of its operations.
    /// - Returns: the result of `body`.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: @Sendable (CKDatabase) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(_ configuration: CKOperation.Configuration?, _ group: CKOperationGroup?)
        -> CKDatabase
    {
        CKDatabase(
            scope: databaseScope, core: core,
            defaults: OperationDefaults(configuration: configuration, group: group))
    }
}
