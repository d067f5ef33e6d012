import CloudStore
import CloudWire
import Crypto
import System

/// A deployment as it was shown to the operator. It is executed only if it hasn't changed since.
package struct DeploymentPlan: Sendable {
    /// What it would do.
    package let deployment: SchemaDeployment
    /// Of both schemas, and of what is removed.
    package let digest: String

    /// Plans a deployment.
    package init(from development: Schema, to production: Schema, removes: Bool) throws {
        deployment = SchemaDeployment(from: development, to: production, removes: removes)
        let texts = [SchemaLanguage.print(development), SchemaLanguage.print(production), "\(removes)"]
        digest = Hex.text(try SHA256.hash(texts.map { "\($0.utf8.count):\($0)" }.joined()))
    }

    /// What each new index has to read: so many records of its type that production has.
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
