import Foundation
import SQLiteTestSupport
import YapCloudKit

/// The files of a device's objects, in the folder of the run. Each is synced before it counts, so a kill and a power
/// loss leave what was written. A disk that is full, fails or is dead takes none.
final class DeviceFiles: AssetFiles, @unchecked Sendable {
    // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`).
    private let disk = DiskAssetFiles()
    private unowned let device: Device

    init(_ device: Device) {
        self.device = device
    }

    func copy(_ source: String, to target: String) throws {
        try mayWrite(target)
        try disk.copy(source, to: target)
    }

    func write(_ bytes: Data, to target: String) throws {
        try mayWrite(target)
        // Of what else is written, a process may do one thing before another or after it.
        guard !bytes.isEmpty, device.diesOverFile() else { return try disk.write(bytes, to: target) }
        try disk.write(bytes.prefix(bytes.count / 2), to: target)
        device.disk.die()
        throw AssetFileError.notWritten(path: target, errno: EIO)
    }

    func move(_ source: String, to target: String) throws {
        try mayWrite(target)
        try disk.move(source, to: target)
    }

    func remove(_ path: String) {
        if !device.disk.isDead { disk.remove(path) }
    }

    func names(in folder: String) -> [String] { disk.names(in: folder) }

    private func mayWrite(_ target: String) throws {
        guard !device.isDiskFaulty else { throw AssetFileError.notWritten(path: target, errno: ENOSPC) }
    }
}
