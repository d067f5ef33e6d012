import CloudStore
import CloudWire
import Crypto
import System

/// A deployment as shown to the operator. It is executed only if the schemas haven't changed since.
package struct DeploymentPlan: Sendable {
    /// The planned changes.
    package let deployment: SchemaDeployment
    /// Digest of both schemas and of the removals.
    package let digest: String

    /// Plans a deployment.
    package init(from development: Schema, to production: Schema, removes: Bool) throws {
        deployment = SchemaDeployment(from: development, to: production, removes: removes)
        let texts = [SchemaLanguage.print(development), SchemaLanguage.print(production), "\(removes)"]
        digest = Hex.text(try SHA256.hash(texts.map { "\($0.utf8.count):\($0)" }.joined()))
    }

    /// Returns the number of production records that each new index must read.
    package func effects(_ reader: any CloudStoreReader) throws -> [JSONValue] {
        var counting = OperatorCounting(reader)
        var effects: [JSONValue] = []
        for change in deployment.changes where change.kind == .index && change.action != .remove {
            guard let recordType = change.recordType else { continue }
            let before = Set((change.before ?? "").split(separator: " "))
            for index in (change.after ?? "").split(separator: " ") where !before.contains(index) {
                let count = try counting.records(ofType: recordType)
                effects.append(
                    .object([
                        "kind": .string("index"), "recordType": .string(recordType),
                        "field": .string(change.name), "index": .string(String(index)),
                        "recordsToRead": .integer(Int64(count.count)), "isCapped": .bool(count.isCapped),
                    ]))
            }
        }
        return effects
    }
}
