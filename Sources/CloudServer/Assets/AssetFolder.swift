import CloudService
import CloudStore
import System

extension DataFolder {
    /// The files that records of an environment hold, as the one server that holds the folder has them. What another
    /// life of it has left unfinished is removed.
    func assetFiles(of container: CloudService.Container, clock: any TimeSource) throws -> DiskAssetFiles {
        let path = try assetsPath(container: container.identifier, environment: container.environment)
        let files = DiskAssetFiles(path: path, clock: clock, gate: { try self.holdForCollection() })
        try files.sweepUnfinished()
        return files
    }
}
