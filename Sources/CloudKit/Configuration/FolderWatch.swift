import Dispatch
import Foundation
internal import System

#if os(Linux)
    /// Reports when any process writes, replaces or removes a file. It uses inotify on the file's folder, so it doesn't
    /// poll.
    package final class FolderWatch: Sendable {
        private struct Watched: Sendable {
            var path: String
            /// The inotify descriptor of the watched folder; nil if none can be watched.
            var folder: Int32?
            var changed: @Sendable () -> Void
        }

        private struct State {
            var watched: [Int: Watched] = [:]
            var lastNumber = 0
            /// The inotify descriptors of the watched folders.
            var folders: Set<Int32> = []
        }

        /// The shared instance.
        package static let shared = FolderWatch()

        private let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        private let queue = DispatchQueue(label: "FolderWatch")
        private let state = Lock(State())
        private let source = Lock<(any DispatchSourceRead)?>(nil)

        private init() {
            // Without inotify, the next operation sees a sign-in of another process.
            guard descriptor >= 0 else { return }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { [weak self] in self?.read() }
            source.activate()
            self.source.withLock { $0 = source }
        }

        /// Calls `changed`, on the watch's thread, after a change in the folder of the file at `path`.
        /// - Returns: a closure that ends the watch.
        package func watch(path: String, _ changed: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            let number = state.withLock { state in
                state.lastNumber += 1
                state.watched[state.lastNumber] = Watched(
                    path: path, folder: arm(path, &state), changed: changed)
                return state.lastNumber
            }
            return { [weak self] in self?.end(number) }
        }

        /// The watched files.
        package var paths: Set<String> { state.withLock { Set($0.watched.values.map(\.path)) } }

        private func end(_ number: Int) {
            // The closure is released after the lock.
            _ = state.withLock { state in
                let watched = state.watched.removeValue(forKey: number)
                dropUnused(&state)
                return watched
            }
        }

        /// Watches the file's folder. If it doesn't exist, watches the nearest existing parent.
        private func arm(_ path: String, _ state: inout State) -> Int32? {
            let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM)
            let wanted = (path as NSString).deletingLastPathComponent
            var folder = wanted, missing: String?
            while !folder.isEmpty {
                let number = inotify_add_watch(descriptor, folder, events)
                if number >= 0 {
                    // The subfolder may have been created between the two calls.
                    if let made = missing, access(made, F_OK) == 0 {
                        missing = nil
                        folder = wanted
                        continue
                    }
                    // inotify has one descriptor for a folder, however often it is added.
                    state.folders.insert(number)
                    return number
                }
                guard folder != "/" else { return nil }
                missing = errno == ENOENT ? folder : nil
                folder = (folder as NSString).deletingLastPathComponent
            }
            return nil
        }

        /// Removes the folders that aren't needed any more.
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
                    // Watches a folder that was just created.
                    let next = arm(watched.path, &state)
                    state.watched[key]?.folder = next
                    return watched.changed
                }
            }
            state.withLock { dropUnused(&$0) }
            for changed in handlers { changed() }
        }

        /// Returns the inotify descriptors in a batch of events.
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
    /// Where our framework isn't used, nothing is watched. The next operation sees the change.
    package final class FolderWatch: Sendable {
        /// The shared instance.
        package static let shared = FolderWatch()

        /// The watched files: none.
        package var paths: Set<String> { [] }

        /// Never calls `changed`.
        package func watch(path: String, _ changed: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            {}
        }
    }
#endif
