import Dispatch
import Foundation
internal import System

#if os(Linux)
    /// Tells when a file is written, replaced or removed by whichever process, without asking for it again and again:
    /// the kernel tells of its folder.
    package final class FolderWatch: Sendable {
        private struct Watched: Sendable {
            var path: String
            /// The kernel's number of the folder that is watched for it; nil: none can be.
            var folder: Int32?
            var changed: @Sendable () -> Void
        }

        private struct State {
            var watched: [Int: Watched] = [:]
            var lastNumber = 0
            /// The kernel's numbers of the folders that are watched.
            var folders: Set<Int32> = []
        }

        /// The process's one watch.
        package static let shared = FolderWatch()

        private let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        private let queue = DispatchQueue(label: "FolderWatch")
        private let state = Lock(State())
        private let source = Lock<(any DispatchSourceRead)?>(nil)

        private init() {
            // Without one, a sign-in of another process is seen by the next operation all the same.
            guard descriptor >= 0 else { return }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { [weak self] in self?.read() }
            source.activate()
            self.source.withLock { $0 = source }
        }

        /// Calls `changed`, on a thread of the watch's own, when something in the folder of the file at `path`
        /// changed.
        /// - Returns: what ends that.
        package func watch(path: String, _ changed: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            let number = state.withLock { state in
                state.lastNumber += 1
                state.watched[state.lastNumber] = Watched(
                    path: path, folder: arm(path, &state), changed: changed)
                return state.lastNumber
            }
            return { [weak self] in self?.end(number) }
        }

        /// The files that are watched.
        package var paths: Set<String> { state.withLock { Set($0.watched.values.map(\.path)) } }

        private func end(_ number: Int) {
            // Its closure is released after the lock.
            _ = state.withLock { state in
                let watched = state.watched.removeValue(forKey: number)
                dropUnused(&state)
                return watched
            }
        }

        /// Watches the file's folder; while there is none, the nearest that there is, in which it will be made.
        private func arm(_ path: String, _ state: inout State) -> Int32? {
            let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM)
            let wanted = (path as NSString).deletingLastPathComponent
            var folder = wanted, missing: String?
            while !folder.isEmpty {
                let number = inotify_add_watch(descriptor, folder, events)
                if number >= 0 {
                    // The one below may have been made between the two calls.
                    if let made = missing, access(made, F_OK) == 0 {
                        missing = nil
                        folder = wanted
                        continue
                    }
                    // The kernel has one number for a folder, however often it is asked for.
                    state.folders.insert(number)
                    return number
                }
                guard folder != "/" else { return nil }
                missing = errno == ENOENT ? folder : nil
                folder = (folder as NSString).deletingLastPathComponent
            }
            return nil
        }

        /// Gives up the folders in which nothing is waited for any more.
        private func dropUnused(_ state: inout State) {
            let used = Set(state.watched.values.compactMap(\.folder))
            for number in state.folders.subtracting(used).sorted() {
                state.folders.remove(number)
                inotify_rm_watch(descriptor, number)
            }
        }

        private func read() {
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            var touched: Set<Int32> = []
            while true {
                let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { break }
                touched.formUnion(Self.folders(in: buffer.prefix(count)))
            }
            let handlers = state.withLock { state in
                state.watched.keys.sorted().compactMap { key -> (@Sendable () -> Void)? in
                    guard let watched = state.watched[key], let folder = watched.folder,
                        touched.contains(folder)
                    else { return nil }
                    // A folder that was made just now, or made again, is watched from now on.
                    let next = arm(watched.path, &state)
                    state.watched[key]?.folder = next
                    return watched.changed
                }
            }
            state.withLock { dropUnused(&$0) }
            for changed in handlers { changed() }
        }

        /// The kernel's numbers of the folders that a batch of events is about.
        private static func folders(in bytes: ArraySlice<UInt8>) -> Set<Int32> {
            var folders: Set<Int32> = []
            bytes.withUnsafeBytes { bytes in
                let headBytes = MemoryLayout<inotify_event>.size
                var offset = 0
                while offset + headBytes <= bytes.count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    folders.insert(event.wd)
                    offset += headBytes + Int(event.len)
                }
            }
            return folders
        }
    }
#else
    /// Where our framework isn't used, nothing is watched: the next operation sees the change.
    package final class FolderWatch: Sendable {
        /// The process's one watch.
        package static let shared = FolderWatch()

        /// The files that are watched: none.
        package var paths: Set<String> { [] }

        /// Never calls `changed`.
        package func watch(path: String, _ changed: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            {}
        }
    }
#endif
