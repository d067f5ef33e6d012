import System

extension DataFolder {
    /// Locks an environment for a process that opens it to write, so that it isn't removed meanwhile.
    ///
    /// - Returns: Nil if the container doesn't exist or this environment of it is being removed.
    /// - Throws: `ControlError.badName`, `DataFolderError`, `CloudStoreError`.
    package func hold(
        container: String, environment: String, in control: ControlStore
    ) throws -> DataFolderLock? {
        while try control.containers.serves(container: container, environment: environment) {
            let path = try holdPath(container, environment, makesFolders: true)
            do {
                guard let lock = try DataFolderLock(path, .shared, waits: false).ifStill(at: path) else {
                    continue
                }
                return try control.containers.serves(container: container, environment: environment)
                    ? lock : nil
            } catch DataFolderError.held {
                // The removing process holds it exclusively until the mark is deleted.
                guard try control.containers.serves(container: container, environment: environment) else {
                    return nil
                }
                _ = try DataFolderLock(path, .shared, waits: true)
            } catch {
                // Its folder may have been deleted since.
                guard try control.containers.serves(container: container, environment: environment) else {
                    return nil
                }
                throw error
            }
        }
        return nil
    }

    /// Locks an environment as `hold` does, and throws if that isn't possible.
    ///
    /// - Throws: `ControlError.noSuchContainer`, `ControlError.isBeingRemoved`, and what `hold` throws.
    package func mustHold(
        container: String, environment: String, in control: ControlStore
    ) throws -> DataFolderLock {
        if let hold = try hold(container: container, environment: environment, in: control) { return hold }
        throw try control.containers.exists(container)
            ? ControlError.isBeingRemoved(container: container, environment: environment)
            : ControlError.noSuchContainer(container)
    }

    /// Locks an environment exclusively. Returns nil if a process has it open.
    func holdAlone(container: String, environment: String) throws -> DataFolderLock? {
        while true {
            let path = try holdPath(container, environment, makesFolders: true)
            do {
                if let lock = try DataFolderLock(path, .exclusive, waits: false).ifStill(at: path) {
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
