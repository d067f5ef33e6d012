public import YapCloudKit

extension Todo: CloudModel {
    /// The type of its record in the cloud.
    public static let recordType = "todo"
    /// Each field is merged on its own: two devices that change different ones both keep their change.
    public static let fields = CloudFields<Todo> {
        $0.field(\.text)
        $0.field(\.isDone)
        $0.field(\.priority)
        $0.field(\.creationDay)
        $0.field(\.completionDay)
        $0.field(\.order)
    }
}
