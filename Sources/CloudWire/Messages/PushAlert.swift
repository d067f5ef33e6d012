/// The part of a notification for the device's push service: what the device shows.
package struct PushAlert: Hashable, Sendable {
    /// The texts of the alert.
    package var texts: Texts?
    /// The number on the app's badge.
    package var badge: Int64?
    /// The sound to play.
    package var sound: String?
    /// The name of the alert's actions.
    package var category: String?
    /// 1 to wake the app.
    package var contentAvailable: Int64?
    /// 1 if an extension of the app may change the alert.
    package var mutableContent: Int64?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes an empty value, which shows nothing.
    package init() {}

    /// Makes the alert of a subscription.
    ///
    /// It doesn't include values of records in texts, badges and collapse keys.
    package init(_ info: WireNotificationInfo) {
        var texts = Texts()
        texts.body = info.alertBody
        texts.bodyKey = info.alertLocalizationKey
        texts.title = info.title
        texts.titleKey = info.titleLocalizationKey
        texts.subtitle = info.subtitle
        texts.subtitleKey = info.subtitleLocalizationKey
        texts.actionKey = info.alertActionLocalizationKey
        texts.launchImage = info.alertLaunchImage
        self.texts = texts == Texts() ? nil : texts
        sound = info.soundName
        category = info.category
        contentAvailable = info.shouldSendContentAvailable == true ? 1 : nil
        mutableContent = info.shouldSendMutableContent == true ? 1 : nil
    }

    /// The texts of an alert.
    package struct Texts: Hashable, Sendable {
        /// True if the alert was a text, which is the body, and not an object.
        package var isBareText = false
        /// The alert's text.
        package var body: String?
        /// The key of the text in the app's strings.
        package var bodyKey: String?
        /// Arguments of the text.
        package var bodyArguments: [String]?
        /// The title.
        package var title: String?
        /// The key of the title in the app's strings.
        package var titleKey: String?
        /// Arguments of the title.
        package var titleArguments: [String]?
        /// The second title.
        package var subtitle: String?
        /// The key of the second title in the app's strings.
        package var subtitleKey: String?
        /// Arguments of the second title.
        package var subtitleArguments: [String]?
        /// The key of the button's text in the app's strings.
        package var actionKey: String?
        /// The picture the app starts with.
        package var launchImage: String?
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Makes an empty value.
        package init() {}
    }
}

extension PushAlert: JSONObject {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("alert", &texts)
        members.optional("badge", &badge)
        members.optional("sound", ofKind: .string, &sound)
        members.optional("category", &category)
        members.optional("content-available", &contentAvailable)
        members.optional("mutable-content", &mutableContent)
    }
}

extension PushAlert.Texts: JSONObject {
    static var blank: Self { Self() }

    init(reading node: JSONNode) throws(JSONError) {
        guard node.kind == .string else {
            try self.init(membersOf: node)
            return
        }
        self.init()
        isBareText = true
        body = try node.string()
    }

    func write(to writer: inout JSONWriter) {
        if isBareText, let body { return writer.value(body) }
        writeMembers(to: &writer)
    }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("body", &body)
        members.optional("loc-key", &bodyKey)
        members.optional("loc-args", &bodyArguments)
        members.optional("title", &title)
        members.optional("title-loc-key", &titleKey)
        members.optional("title-loc-args", &titleArguments)
        members.optional("subtitle", &subtitle)
        members.optional("subtitle-loc-key", &subtitleKey)
        members.optional("subtitle-loc-args", &subtitleArguments)
        members.optional("action-loc-key", &actionKey)
        members.optional("launch-image", &launchImage)
    }
}
