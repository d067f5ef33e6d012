#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension DataFolder {
    /// A process that opens an environment to write holds it, so that it isn't removed meanwhile.
    ///
    /// - Returns: nil when there is no such container, or this environment of it is being removed.
    /// - Throws: `ControlError.badName`, `DataFolderError`, `CloudStoreError`.
    public func hold(
        container: String, environment: String, in control: ControlStore
    ) throws -> DataFolderLock? {
        while try control.containers.serves(container: container, environment: environment) {
            let path = try holdPath(container, environment, makesFolders: true)
            do {
                guard let lock = try DataFolderLock(sharing: path, LOCK_SH | LOCK_NB).ifStill(at: path) else {
                    continue
                }
                return try control.containers.serves(container: container, environment: environment)
                    ? lock : nil
            } catch DataFolderError.held {
                // The process that removes holds it alone, until the mark is away.
                guard try control.containers.serves(container: container, environment: environment) else {
                    return nil
                }
                _ = try DataFolderLock(sharing: path, LOCK_SH)
            } catch {
                // Its folder may have gone in between.
                guard try control.containers.serves(container: container, environment: environment) else {
                    return nil
                }
                throw error
            }
        }
        return nil
    }

    /// The same, for a caller that can't go on without it.
    ///
    /// - Throws: `ControlError.noSuchContainer`, `ControlError.isBeingRemoved`, and what `hold` throws.
    public func mustHold(
        container: String, environment: String, in control: ControlStore
    ) throws -> DataFolderLock {
        if let hold = try hold(container: container, environment: environment, in: control) { return hold }
        throw try control.containers.exists(container)
            ? ControlError.isBeingRemoved(container: container, environment: environment)
            : ControlError.noSuchContainer(container)
    }

    /// Holds an environment alone; nil while somebody has it open.
    func holdAlone(container: String, environment: String) throws -> DataFolderLock? {
        while true {
            let path = try holdPath(container, environment, makesFolders: true)
            do {
                if let lock = try DataFolderLock(sharing: path, LOCK_EX | LOCK_NB).ifStill(at: path) {
                    return lock
                }
            } catch DataFolderError.held {
                return nil
            }
        }
    }

    func holdPath(_ container: String, _ environment: String, makesFolders: Bool = false) throws -> String {
        String(
            try storePath(container: container, environment: environment, makesFolders: makesFolders)
                .dropLast(7)) + ".lock"
    }
}
