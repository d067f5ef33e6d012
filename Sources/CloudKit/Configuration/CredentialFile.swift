package import CloudWire
import Foundation
internal import System

/// The file in which the tokens of the users who signed in are kept, one for each container of each server.
package struct CredentialFile: Sendable {
    private let file: PrivateFile

    /// Where it lies.
    package var path: String { file.path }
    /// What tells one version of it from the next; nil when there is no file.
    package var version: PrivateFile.Version? { file.version() }

    /// Names the file at `path`.
    package init(path: String) {
        file = PrivateFile(path: path)
    }

    /// What it holds; nothing when there is no file.
    /// - Throws: `CKError.badContainer` when others may read it, or it is damaged, with what to do.
    package func read() throws(CKError) -> (document: CredentialsDocument, version: PrivateFile.Version?) {
        do throws(PrivateFile.Failure) {
            guard let (bytes, version) = try file.read() else { return (CredentialsDocument(), nil) }
            return (try decode(bytes), version)
        } catch {
            throw CKError(.badContainer, error.message)
        }
    }

    /// Keeps `entry` in the place of an older one for the same container.
    package func save(_ entry: CredentialsDocument.Entry) throws(CKError) {
        try change { document in
            document.credentials.removeAll { $0.isFor(entry.server, entry.container, entry.environment) }
            document.credentials.append(entry)
        }
    }

    /// Forgets the sign-in to a container.
    package func remove(server: String, container: String, environment: String) throws(CKError) {
        guard version != nil else { return }
        try change { document in document.credentials.removeAll { $0.isFor(server, container, environment) } }
    }

    /// Changes the file while no other process does.
    package func change(_ body: (inout CredentialsDocument) -> Void) throws(CKError) {
        do throws(PrivateFile.Failure) {
            try file.withFolderLocked { () throws(PrivateFile.Failure) in
                var document = CredentialsDocument()
                if let (bytes, _) = try file.read() { document = try decode(bytes) }
                body(&document)
                guard let bytes = try? document.json() else {
                    throw PrivateFile.Failure(message: "The credentials can't be written as JSON.")
                }
                let name = SystemRandomSource().nextUUID()
                try file.write(bytes, temporaryName: "credentials-" + name)
            }
        } catch {
            throw CKError(.badContainer, error.message)
        }
    }

    /// What names this device: made once, and kept beside the credentials.
    package func deviceID() throws(CKError) -> String {
        let deviceFile = PrivateFile(path: file.folder + "/device-id")
        do throws(PrivateFile.Failure) {
            if let text = try Self.deviceID(in: deviceFile) { return text }
            let made = SystemRandomSource().nextUUID()
            try deviceFile.create(Array(made.utf8), temporaryName: "device-id-" + made)
            // Another process may have been first.
            return try Self.deviceID(in: deviceFile) ?? made
        } catch {
            throw CKError(.badContainer, error.message)
        }
    }

    private static func deviceID(in file: PrivateFile) throws(PrivateFile.Failure) -> String? {
        guard let (bytes, _) = try file.read() else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard UUID(uuidString: text) != nil else {
            throw PrivateFile.Failure(
                message: "\(file.path) doesn't hold a device's name: take it away, and another is made.")
        }
        return text
    }

    private func decode(_ bytes: [UInt8]) throws(PrivateFile.Failure) -> CredentialsDocument {
        do {
            return try CredentialsDocument(json: bytes)
        } catch {
            throw PrivateFile.Failure(
                message: """
                    \(path):\(error.line(in: bytes)): \(error.reason). Mend it, or take it away and sign in again.
                    """)
        }
    }
}

extension CredentialsDocument.Entry {
    /// Whether it is for that container of that server, by whichever name of this machine.
    package func isFor(_ server: String, _ container: String, _ environment: String) -> Bool {
        ServerName.oneLoopback(self.server) == ServerName.oneLoopback(server)
            && self.container == container && self.environment == environment
    }
}

extension JSONError {
    /// The line of the mistake, counted from 1.
    func line(in bytes: [UInt8]) -> Int {
        bytes.prefix(byteOffset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    }
}
