import CloudService
import CloudStore
import System

extension DataFolder {
    /// Opens the asset files of an environment, for the one server that owns the folder. Removes unfinished files of an
    /// earlier process.
    func assetFiles(of container: CloudService.Container, clock: any TimeSource) throws -> DiskAssetStore {
        let path = try assetsPath(container: container.identifier, environment: container.environment)
        let files = DiskAssetStore(path: path, clock: clock, gate: { try self.holdForCollection() })
        try files.sweepUnfinished()
        return files
    }
}
