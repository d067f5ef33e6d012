/// `todo login`: signs this device in.
struct LoginCommand {
    let call: TodoCall
    let folder: DeviceFolder

    func run() async throws -> Int32 {
        throw TodoFailure.failed("not yet")
    }
}
