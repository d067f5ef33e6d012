import CloudService
import CloudStore
import System

extension DataFolder {
    /// Opens the asset files of an environment, for the one server that owns the folder. Removes unfinished files of an
    /// earlier process.
    func assetFiles(of container: CloudService.Container, clock: any TimeSource) throws -> DiskAssetFiles {
        let path = try assetsPath(container: container.identifier, environment: container.environment)
        let files = DiskAssetFiles(path: path, clock: clock, gate: { try self.holdForCollection() })
        try files.sweepUnfinished()
        return files
    }
}
