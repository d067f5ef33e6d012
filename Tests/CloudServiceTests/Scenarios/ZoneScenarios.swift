/// What `zones/...`, `changes/...`, `users/...`, `subscriptions/...` and a device's endpoints answer.
enum ZoneScenarios {
    static let text = #"""
        == zones are listed with the default one first
        > ada GET private/zones/list
        < 200
        | {"zones":[{"zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_ada"
        | "zoneType":"DEFAULT_ZONE"},"atomic":false,"deleted":false}
        | "zoneName":"todos" | REGULAR_CUSTOM_ZONE | "atomic":true | "moreComing":false | "syncToken"
        == by POST too
        > ada POST private/zones/list
        {}
        < 200 | "zoneName":"other" | "moreComing":false
        == the public database has one zone
        > bob GET public/zones/list
        < 200 | _defaultZone | !todos
        == the shared one has none
        > ada POST shared/zones/list
        {}
        < 200 | "zones":[]
        == who hasn't signed in sees no zones
        > nobody POST public/zones/list
        < 421 | AUTHENTICATION_REQUIRED
        == zones are looked up by name
        > ada POST private/zones/lookup
        {"zones":[{"zoneName":"todos"},{"zoneName":"none"},{"zoneName":"_defaultZone"}]}
        < 200 | "zoneName":"todos" | "serverErrorCode":"ZONE_NOT_FOUND" | "zoneName":"none"
        == the default zone is there in public
        > ada POST public/zones/lookup
        {"zones":[{"zoneName":"_defaultZone"},{"zoneName":"todos"}]}
        < 200 | DEFAULT_ZONE | ZONE_NOT_FOUND
        == another user's zone is not there
        > bob POST private/zones/lookup
        {"zones":[{"zoneName":"todos","ownerRecordName":"_ada"}]}
        < 200 | ZONE_NOT_FOUND | !"atomic"
        == zones are made and deleted in order
        > ada POST private/zones/modify
        {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"new"}}},{"operationType":"delete",
        "zone":{"zoneID":{"zoneName":"other"}}}]}
        < 200 | "zoneName":"new" | "deleted":true | !serverErrorCode
        * +zone:new -zone:other -other/o
        == a zone is made once, however often it is asked for
        > ada POST private/zones/modify
        {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"todos"}}}]}
        < 200 | "zoneName":"todos" | "deleted":false | !serverErrorCode
        == where the setting says so, the second time is an error
        @ zones are made once
        > ada POST private/zones/modify
        {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"todos"}}}]}
        < 200 | "serverErrorCode":"EXISTS" | "zoneName":"todos"
        == the default zone stays
        > ada POST private/zones/modify
        {"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"_defaultZone"}}}]}
        < 200 | BAD_REQUEST
        == zones are made in private databases
        > ada POST public/zones/modify
        {"operations":[]}
        < 400 | endpoint not applicable in the database type 'publicdb'
        == what changed in a database
        > ada POST private/changes/database
        {"resultsLimit":1}
        < 200 | "zoneName":"todos" | "deleted":false | "moreComing":true | "syncToken" | !"zoneName":"other"
        == and since
        > ada POST private/changes/database
        {"syncToken":"$token()"}
        < 200 | "zones":[] | "moreComing":false
        == a token of another feed is refused
        > ada POST private/changes/database
        {"syncToken":"$token(todos)"}
        < 400 | "serverErrorCode":"BAD_REQUEST" | client knowledge differs from server knowledge | !tokenRefusal
        == nobody has a feed
        > nobody POST private/changes/database
        < 421 | AUTHENTICATION_REQUIRED
        == the older form has another name for its token
        > ada POST private/zones/changes
        {"metaSyncToken":"$token()","resultsLimit":10}
        < 200 | "metaSyncToken" | "moreComing":false | !"syncToken"
        == what changed in zones, each for itself
        > ada POST private/changes/zone
        {"zones":[{"zoneID":{"zoneName":"todos"},"resultsLimit":1,"desiredKeys":["n"],"numberAsStrings":true},
        {"zoneID":{"zoneName":"none"}},{"zoneID":{"zoneName":"_defaultZone"}},{"zoneID":{"zoneName":"todos"},
        "syncToken":"AQAAAaBJidqD"}]}
        < 200 | "value":"1" | "moreComing":true | ZONE_NOT_FOUND | BAD_REQUEST | client knowledge differs | !title
        == and since
        > ada POST private/changes/zone
        {"zones":[{"zoneID":{"zoneName":"todos"},"syncToken":"$token(todos)"}]}
        < 200 | "records":[] | "moreComing":false
        == another user's zone has no feed
        > bob POST private/changes/zone
        {"zones":[{"zoneID":{"zoneName":"todos","ownerRecordName":"_ada"}}]}
        < 200 | ZONE_NOT_FOUND | !"records"
        == who asks is told flat
        > ada GET public/users/caller
        < 200 | {"userRecordName":"_ada","nameComponents":{"givenName":"Ada","familyName":"Lovelace"}}
        == the older form
        > ada POST public/users/current
        < 200 | {"userRecordName":"_ada","firstName":"Ada","lastName":"Lovelace"}
        == users are of the public database
        > ada GET private/users/caller
        < 400 | endpoint not applicable in the database type 'privatedb'
        == and for who is signed in
        > nobody GET public/users/caller
        < 421 | AUTHENTICATION_REQUIRED
        == nobody is found who didn't say so
        > bob POST public/users/discover
        {"lookupInfos":[{"emailAddress":"ada@example.com"},{"userRecordName":"_ada"},{"phoneNumber":"1"}]}
        < 200 | {"users":[]}
        == who says so
        > ada POST public/users/discoverability
        {"discoverable":true}
        < 200 | {"discoverable":true,"listed":false}
        * +found:ada
        == or no longer
        @ ada is found
        > ada POST public/users/discoverability
        {"discoverable":false}
        < 200 | {"discoverable":false,"listed":false}
        * -found:ada
        == is found by address and by record name
        @ ada is found
        > bob POST public/users/discover
        {"lookupInfos":[{"emailAddress":"ada@example.com"},{"userRecordName":"_ada"},{"phoneNumber":"1"}]}
        < 200 | {"users":[{"userRecordName":"_ada","nameComponents":{"givenName":"Ada","familyName":"Lovelace"},
        | "lookupInfo":{"emailAddress":"ada@example.com"} | "lookupInfo":{"userRecordName":"_ada"}
        == everybody
        > bob GET public/users/discover
        < 200 | {"users":[]}
        == everybody who wants to be listed
        @ ada is found
        > bob GET public/users/discover
        < 200 | {"users":[{"userRecordName":"_ada" | !emailAddress
        == a lookup says whom
        > bob POST public/users/discover
        {"lookupInfos":[{}]}
        < 400 | "serverErrorCode":"BAD_REQUEST" | lookupInfo
        == nobody finds anybody
        > nobody POST public/users/discover
        {"lookupInfos":[{"userRecordName":"_ada"}]}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED"
        == the address is told to who knows it
        @ ada is found
        > bob POST public/users/lookup/email
        {"users":[{"emailAddress":"ada@example.com"}]}
        < 200 | {"users":[{"userRecordName":"_ada","firstName":"Ada","lastName":"Lovelace",
        | "emailAddress":"ada@example.com"
        == by address
        > bob POST public/users/lookup/email
        {"users":[{"emailAddress":"ada@example.com"}]}
        < 200 | {"users":[]}
        == by record name one finds oneself
        > ada POST public/users/lookup/id
        {"users":[{"userRecordName":"_ada"}]}
        < 200 | "firstName":"Ada" | !emailAddress
        == others find who lets them
        @ ada is found
        > bob POST public/users/lookup/id
        {"users":[{"userRecordName":"_ada"},{"userRecordName":"_none"}]}
        < 200 | {"users":[{"userRecordName":"_ada","firstName":"Ada","lastName":"Lovelace"}]}
        == and the address book has who is listed
        @ ada is found
        > bob GET public/users/lookup/contacts
        < 200 | {"users":[{"userRecordName":"_ada","firstName":"Ada","lastName":"Lovelace"}]}
        == the address book is empty
        > ada POST public/users/lookup/contacts
        < 200 | {"users":[]}
        == subscriptions are made
        > ada POST private/subscriptions/modify
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","subscriptionType":"zone",
        "zoneID":{"zoneName":"todos"},"notificationInfo":{"shouldSendContentAvailable":true}}}]}
        < 200 | "subscriptionID":"s" | "zoneName":"todos" | !serverErrorCode
        * +subscription:s
        == for zones that are there
        > ada POST private/subscriptions/modify
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","subscriptionType":"zone",
        "zoneID":{"zoneName":"none"}}}]}
        < 200 | ZONE_NOT_FOUND | "subscriptionID":"s"
        == not more than there may be
        @ one subscription
        > ada POST private/subscriptions/modify
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",
        "subscriptionType":"database"}},{"operationType":"create","subscription":{"subscriptionID":"t",
        "subscriptionType":"database"}}]}
        < 200 | "serverErrorCode":"QUOTA_EXCEEDED" | "subscriptionID":"t"
        * +subscription:s
        == and what isn't there can't go
        > ada POST private/subscriptions/modify
        {"operations":[{"operationType":"delete","subscription":{"subscriptionID":"none"}}]}
        < 200 | NOT_FOUND | "subscriptionID":"none"
        == they are listed
        > ada GET private/subscriptions/list
        < 200 | "subscriptions":[]
        == and looked up
        > ada POST private/subscriptions/lookup
        {"subscriptions":[{"subscriptionID":"none"}]}
        < 200 | NOT_FOUND
        == a device gets a token
        > ada POST device/tokens/create?clientId=phone
        {"apnsEnvironment":"development"}
        < 200 | "apnsEnvironment":"development" | "apnsToken" | "webcourierURL":"https://cloud.example.com/device/1/
        * +device:phone
        == renews its own only
        > ada POST device/tokens/register
        {"apnsEnvironment":"development","apnsToken":"none"}
        < 404 | NOT_FOUND
        == a device's endpoints are not under a database
        > ada POST private/tokens/create
        {"apnsEnvironment":"development"}
        < 404 | NOT_FOUND | no endpoint
        == nor is there any other
        > ada POST private/records/everything
        {}
        < 404 | no endpoint
        """#
}
