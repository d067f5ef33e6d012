package import CloudWire
import Foundation
internal import System

/// The file with the tokens of signed-in users, one for each container of each server.
package struct CredentialFile: Sendable {
    private let file: PrivateFile

    /// The file's path.
    package var path: String { file.path }
    /// Identifies the version of the file; nil if it doesn't exist.
    package var version: PrivateFile.Version? { file.version() }

    /// A file at `path`.
    package init(path: String) {
        file = PrivateFile(path: path)
    }

    /// Reads the file.
    /// - Returns: its version and content; an empty document if it doesn't exist.
    /// - Throws: `CKError.badContainer` if others may read the file or it is damaged, with the remedy.
    package func read() throws(CKError) -> (document: CredentialsDocument, version: PrivateFile.Version?) {
        do throws(PrivateFile.Failure) {
            guard let (bytes, version) = try file.read() else { return (CredentialsDocument(), nil) }
            return (try decode(bytes), version)
        } catch {
            throw CKError(.badContainer, error.message)
        }
    }

    /// Stores `entry`, and removes an older one for the same container.
    package func save(_ entry: CredentialsDocument.Entry) throws(CKError) {
        try change { document in
            document.credentials.removeAll { $0.isFor(entry.server, entry.container, entry.environment) }
            document.credentials.append(entry)
        }
    }

    /// Removes the sign-in to a container.
    package func remove(server: String, container: String, environment: String) throws(CKError) {
        guard version != nil else { return }
        try change { document in document.credentials.removeAll { $0.isFor(server, container, environment) } }
    }

    /// Changes the file under a lock between processes.
    package func change(_ body: (inout CredentialsDocument) -> Void) throws(CKError) {
        do throws(PrivateFile.Failure) {
            try file.withFolderLocked { () throws(PrivateFile.Failure) in
                var document = CredentialsDocument()
                if let (bytes, _) = try file.read() { document = try decode(bytes) }
                body(&document)
                guard let bytes = try? document.json() else {
                    throw PrivateFile.Failure(message: "The credentials can't be written as JSON.")
                }
                try file.write(bytes)
            }
        } catch {
            throw CKError(.badContainer, error.message)
        }
    }

    /// Returns the device's ID. Created once, and stored in the folder of the credentials.
    package func deviceID() throws(CKError) -> String {
        let deviceFile = PrivateFile(path: file.folder + "/device-id")
        do throws(PrivateFile.Failure) {
            if let text = try Self.deviceID(in: deviceFile) { return text }
            let made = SystemRandomSource().nextUUID()
            try deviceFile.write(Array(made.utf8), replacing: false)
            // Another process may have created it first.
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
                message: "\(file.path) has no device ID: delete it, and a new one is created.")
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
    /// Returns true if the entry is for this container of this server, under any name of this machine.
    package func isFor(_ server: String, _ container: String, _ environment: String) -> Bool {
        ServerName.oneLoopback(self.server) == ServerName.oneLoopback(server)
            && self.container == container && self.environment == environment
    }
}

extension JSONError {
    /// Returns the line of the error, from 1.
    func line(in bytes: [UInt8]) -> Int {
        bytes.prefix(byteOffset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    }
}
