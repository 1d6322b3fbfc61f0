/** Generated from the openapi.json of consignments by scripts/generate.ts; do not edit. */
export interface paths {
    "/consignments/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create consignments from a stream of lines
         * @description NDJSON both ways: one consignment a line in, one result a line out, in the same order. Results come when the body has been received, or when it stands still for a second. A bad line does not stop the rest; blank lines are passed over. A last line with `stopped` says that the import has ended early. With `Import-Id`, any part of the body can be sent again for 24 hours: a line that has created a consignment creates no second one.
         *
         *     Requires bearer, with the scope consignments:write.
         */
        post: operations["importConsignments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/consignments/imports/{importId}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The results of an import, by line
         * @description NDJSON, one result a line, in the order of lines. A result can be read for 24 hours, by the caller who has sent the line. While the import is running, the results so far.
         *
         *     Requires bearer, with the scope consignments:write.
         */
        get: operations["getImportResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/consignments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Consignments, newest first, with their exact total
         * @description Parameter names are case-insensitive.
         *
         *     Requires bearer, with the scope consignments:read.
         */
        get: operations["listConsignments"];
        put?: never;
        /**
         * Create a consignment
         * @description Requires bearer, with the scope consignments:write.
         */
        post: operations["createConsignment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/consignments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One consignment
         * @description Requires bearer, with the scope consignments:write.
         */
        get: operations["getConsignment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change some fields of a consignment
         * @description A JSON merge patch (RFC 7396): absent fields keep their values, null clears a field.
         *
         *     Requires bearer, with the scope consignments:write.
         */
        patch: operations["changeConsignment"];
        trace?: never;
    };
    "/partners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Partners, newest first, with their exact total
         * @description Parameter names are case-insensitive.
         *
         *     Requires bearer, with the scope consignments:read.
         */
        get: operations["listPartners"];
        put?: never;
        /**
         * Create a partner
         * @description Requires bearer, with the scope consignments:write.
         */
        post: operations["createPartner"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/partners/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One partner
         * @description Requires bearer, with the scope consignments:write.
         */
        get: operations["getPartner"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change some fields of a partner
         * @description A JSON merge patch (RFC 7396): absent fields keep their values, null clears a field.
         *
         *     Requires bearer, with the scope consignments:write.
         */
        patch: operations["changePartner"];
        trace?: never;
    };
    "/inventory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inventory, newest first, with their exact total
         * @description Parameter names are case-insensitive.
         *
         *     Requires bearer, with the scope consignments:read.
         */
        get: operations["listInventoryItems"];
        put?: never;
        /**
         * Create a inventory item
         * @description Requires bearer, with the scope consignments:write.
         */
        post: operations["createInventoryItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inventory/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One inventory item
         * @description Requires bearer, with the scope consignments:write.
         */
        get: operations["getInventoryItem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change some fields of a inventory item
         * @description A JSON merge patch (RFC 7396): absent fields keep their values, null clears a field.
         *
         *     Requires bearer, with the scope consignments:write.
         */
        patch: operations["changeInventoryItem"];
        trace?: never;
    };
    "/warehouses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Warehouses, newest first, with their exact total
         * @description Parameter names are case-insensitive.
         *
         *     Requires bearer, with the scope consignments:read.
         */
        get: operations["listWarehouses"];
        put?: never;
        /**
         * Create a warehouse
         * @description Requires bearer, with the scope consignments:write.
         */
        post: operations["createWarehouse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/warehouses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One warehouse
         * @description Requires bearer, with the scope consignments:write.
         */
        get: operations["getWarehouse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change some fields of a warehouse
         * @description A JSON merge patch (RFC 7396): absent fields keep their values, null clears a field.
         *
         *     Requires bearer, with the scope consignments:write.
         */
        patch: operations["changeWarehouse"];
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ConsignmentInput: {
            consignmentNumber: string;
            /**
             * Format: uuid
             * @description The client, here or in another system
             */
            clientId: string;
            clientName: string;
            /**
             * Format: uuid
             * @description The carrier, here or in another system
             * @default null
             */
            carrierId?: string | null;
            /**
             * Format: uuid
             * @description The warehouse, here or in another system
             * @default null
             */
            warehouseId?: string | null;
            /**
             * @description 0 draft, 1 booked, 2 picking, 3 packed, 4 dispatched, 5 in transit, 6 delivered, 7 cancelled
             * @default 0
             */
            status?: number;
            /**
             * @description 0 none, 1 queued, 2 sent, 3 acknowledged, 4 failed
             * @default 0
             */
            ediStatus?: number;
            /** @default null */
            externalId?: string | null;
            /** @default null */
            reference?: string | null;
        };
        ConsignmentPatch: {
            consignmentNumber?: string;
            /**
             * Format: uuid
             * @description The client, here or in another system
             */
            clientId?: string;
            clientName?: string;
            /**
             * Format: uuid
             * @description The carrier, here or in another system
             */
            carrierId?: string | null;
            /**
             * Format: uuid
             * @description The warehouse, here or in another system
             */
            warehouseId?: string | null;
            /** @description 0 draft, 1 booked, 2 picking, 3 packed, 4 dispatched, 5 in transit, 6 delivered, 7 cancelled */
            status?: number;
            /** @description 0 none, 1 queued, 2 sent, 3 acknowledged, 4 failed */
            ediStatus?: number;
            externalId?: string | null;
            reference?: string | null;
        };
        PartnerInput: {
            code: string;
            name: string;
            /** @description 0 client, 1 carrier, 2 supplier, 3 consignee */
            relationship: number;
            /**
             * @description 0 inactive, 1 active
             * @default 1
             */
            status?: number;
        };
        PartnerPatch: {
            code?: string;
            name?: string;
            /** @description 0 client, 1 carrier, 2 supplier, 3 consignee */
            relationship?: number;
            /** @description 0 inactive, 1 active */
            status?: number;
        };
        InventoryItemInput: {
            /**
             * Format: uuid
             * @description The partner whose product it is, here or in another system
             */
            partnerId: string;
            partnerProductId: string;
            productCode: string;
            /** @default  */
            description?: string;
            /**
             * Format: uuid
             * @description The warehouse, here or in another system
             */
            warehouseId: string;
            /**
             * @description Units in the warehouse; 0 means depleted
             * @default 0
             */
            quantity?: number;
            /**
             * @description Units that are promised to consignments
             * @default 0
             */
            reserved?: number;
        };
        InventoryItemPatch: {
            /**
             * Format: uuid
             * @description The partner whose product it is, here or in another system
             */
            partnerId?: string;
            partnerProductId?: string;
            productCode?: string;
            description?: string;
            /**
             * Format: uuid
             * @description The warehouse, here or in another system
             */
            warehouseId?: string;
            /** @description Units in the warehouse; 0 means depleted */
            quantity?: number;
            /** @description Units that are promised to consignments */
            reserved?: number;
        };
        WarehouseInput: {
            code: string;
            name: string;
            city: string;
            /** @description ISO 3166-1 alpha-2 */
            countryCode: string;
            /**
             * @description 0 inactive, 1 active
             * @default 1
             */
            status?: number;
        };
        WarehousePatch: {
            code?: string;
            name?: string;
            city?: string;
            /** @description ISO 3166-1 alpha-2 */
            countryCode?: string;
            /** @description 0 inactive, 1 active */
            status?: number;
        };
        ImportResult: {
            /** @description Number of the line in the import, from 1 */
            line: number;
            /**
             * Format: uuid
             * @description Id of the stored consignment
             */
            id: string;
        } | {
            line: number;
            /** @description Error code */
            error: string;
            detail: string;
            /** @description Messages by field */
            errors?: {
                [key: string]: string[];
            };
            /**
             * @description The import ended early; this line and all lines after it are not confirmed
             * @enum {boolean}
             */
            stopped?: true;
        };
        /** @description RFC 9457 problem details */
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description Stable name of the problem */
            code: string;
            requestId: string;
            /** @description Messages by parameter or body path */
            errors?: {
                [key: string]: string[];
            };
        };
        ConsignmentList: {
            /** @description The page that was asked for */
            index: number;
            /** @description Records that match, on all pages together */
            total: number;
            consignments: components["schemas"]["Consignment"][];
        };
        Consignment: {
            /** Format: uuid */
            id: string;
            consignmentNumber: string;
            /**
             * Format: uuid
             * @description The client, here or in another system
             */
            clientId: string;
            clientName: string;
            /**
             * Format: uuid
             * @description The carrier, here or in another system
             */
            carrierId: string | null;
            /**
             * Format: uuid
             * @description The warehouse, here or in another system
             */
            warehouseId: string | null;
            /** @description 0 draft, 1 booked, 2 picking, 3 packed, 4 dispatched, 5 in transit, 6 delivered, 7 cancelled */
            status: number;
            /** @description 0 none, 1 queued, 2 sent, 3 acknowledged, 4 failed */
            ediStatus: number;
            externalId: string | null;
            reference: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        PartnerList: {
            /** @description The page that was asked for */
            index: number;
            /** @description Records that match, on all pages together */
            total: number;
            partners: components["schemas"]["Partner"][];
        };
        Partner: {
            /** Format: uuid */
            id: string;
            code: string;
            name: string;
            /** @description 0 client, 1 carrier, 2 supplier, 3 consignee */
            relationship: number;
            /** @description 0 inactive, 1 active */
            status: number;
        };
        InventoryItemList: {
            /** @description The page that was asked for */
            index: number;
            /** @description Records that match, on all pages together */
            total: number;
            inventory: components["schemas"]["InventoryItem"][];
        };
        InventoryItem: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description The partner whose product it is, here or in another system
             */
            partnerId: string;
            partnerProductId: string;
            productCode: string;
            description: string;
            /**
             * Format: uuid
             * @description The warehouse, here or in another system
             */
            warehouseId: string;
            /** @description Units in the warehouse; 0 means depleted */
            quantity: number;
            /** @description Units that are promised to consignments */
            reserved: number;
            /** Format: date-time */
            updatedAt: string;
        };
        WarehouseList: {
            /** @description The page that was asked for */
            index: number;
            /** @description Records that match, on all pages together */
            total: number;
            warehouses: components["schemas"]["Warehouse"][];
        };
        Warehouse: {
            /** Format: uuid */
            id: string;
            code: string;
            name: string;
            city: string;
            /** @description ISO 3166-1 alpha-2 */
            countryCode: string;
            /** @description 0 inactive, 1 active */
            status: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    importConsignments: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the import; 1 to 128 letters, digits or characters of `._~:-`. Of each number of a line only the first valid one is stored. It takes the place of Idempotency-Key. The service makes one if it is left out. */
                "Import-Id"?: string;
                /** @description Number of the first line of this body in the import (default 1) */
                "Import-First-Line"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "consignmentNumber": "CN-2",
                 *       "clientId": "0198c5a0-7e57-7000-8a00-000000000000",
                 *       "clientName": "Van Dijk Flowers"
                 *     }
                 */
                "application/x-ndjson": components["schemas"]["ConsignmentInput"];
            };
        };
        responses: {
            /** @description Result lines */
            200: {
                headers: {
                    /** @description The import, to read its results again */
                    "Import-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ImportResult"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is well-formed but cannot be processed */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getImportResults: {
        parameters: {
            query?: {
                /** @description Results of this line and those after it */
                FirstLine?: number;
            };
            header?: never;
            path: {
                /** @description The Import-Id */
                importId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Result lines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ImportResult"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listConsignments: {
        parameters: {
            query?: {
                /** @description Index of the page, from 0 */
                PageIndex?: number;
                /** @description Records per page */
                PageSize?: number;
                /** @description Text that must occur in consignmentNumber, clientName, externalId or reference, in upper or lower case. No character is a wildcard. A text without three letters or digits in a row is refused with 400 unless the whole list, or the records of one of the other filters, are at most 2,000,000. */
                SearchText?: string;
                /** @description Only consignments of this client */
                ClientId?: string;
                /** @description Only consignments of this carrier */
                CarrierId?: string;
                /** @description Only consignments of this warehouse */
                WarehouseId?: string;
                /** @description Only consignments of this status */
                Status?: number;
                /** @description Only consignments of this EDI status */
                EdiStatus?: number;
                /** @description Only consignments with exactly this externalId */
                ExternalId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page; empty past the end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsignmentList"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:read */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createConsignment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "consignmentNumber": "CN-1",
                 *       "clientId": "0198c5a0-7e57-7000-8a00-000000000000",
                 *       "clientName": "Van Dijk Flowers"
                 *     }
                 */
                "application/json": components["schemas"]["ConsignmentInput"];
            };
        };
        responses: {
            /** @description The new consignment */
            201: {
                headers: {
                    /** @description Address of the consignment */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Consignment"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getConsignment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The consignment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Consignment"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeConsignment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reference": "PO 4711"
                 *     }
                 */
                "application/json": components["schemas"]["ConsignmentPatch"];
                /**
                 * @example {
                 *       "reference": "PO 4711"
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["ConsignmentPatch"];
            };
        };
        responses: {
            /** @description The consignment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Consignment"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPartners: {
        parameters: {
            query?: {
                /** @description Index of the page, from 0 */
                PageIndex?: number;
                /** @description Records per page */
                PageSize?: number;
                /** @description Text that must occur in name or code, in upper or lower case. No character is a wildcard. */
                SearchText?: string;
                /** @description Only partners of this relationship */
                Relationship?: number;
                /** @description Only partners of this status */
                Status?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page; empty past the end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PartnerList"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:read */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createPartner: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "P-1",
                 *       "name": "A partner of mine",
                 *       "relationship": 0
                 *     }
                 */
                "application/json": components["schemas"]["PartnerInput"];
            };
        };
        responses: {
            /** @description The new partner */
            201: {
                headers: {
                    /** @description Address of the partner */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Partner"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPartner: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The partner */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Partner"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changePartner: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Van Dijk Flowers"
                 *     }
                 */
                "application/json": components["schemas"]["PartnerPatch"];
                /**
                 * @example {
                 *       "name": "Van Dijk Flowers"
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["PartnerPatch"];
            };
        };
        responses: {
            /** @description The partner */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Partner"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listInventoryItems: {
        parameters: {
            query?: {
                /** @description Index of the page, from 0 */
                PageIndex?: number;
                /** @description Records per page */
                PageSize?: number;
                /** @description Text that must occur in productCode, description or partnerProductId, in upper or lower case. No character is a wildcard. A text without three letters or digits in a row is refused with 400 unless the whole list, or the records of one of the other filters, are at most 2,000,000. */
                SearchText?: string;
                /** @description Only products of this partner */
                PartnerId?: string;
                /** @description Only products with exactly this partnerProductId */
                PartnerProductId?: string;
                /** @description Only what is in this warehouse */
                WarehouseId?: string;
                /** @description Whether items with quantity 0 are given too */
                IncludeDepleted?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page; empty past the end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InventoryItemList"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:read */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createInventoryItem: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "partnerId": "0198c5a0-7e57-7000-8a00-000000000000",
                 *       "partnerProductId": "tulip-1",
                 *       "productCode": "TULIP",
                 *       "warehouseId": "0198c5a0-7e57-7000-8b00-000000000000",
                 *       "quantity": 12
                 *     }
                 */
                "application/json": components["schemas"]["InventoryItemInput"];
            };
        };
        responses: {
            /** @description The new inventory item */
            201: {
                headers: {
                    /** @description Address of the inventory item */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InventoryItem"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getInventoryItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The inventory item */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InventoryItem"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeInventoryItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "quantity": 12
                 *     }
                 */
                "application/json": components["schemas"]["InventoryItemPatch"];
                /**
                 * @example {
                 *       "quantity": 12
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["InventoryItemPatch"];
            };
        };
        responses: {
            /** @description The inventory item */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InventoryItem"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWarehouses: {
        parameters: {
            query?: {
                /** @description Index of the page, from 0 */
                PageIndex?: number;
                /** @description Records per page */
                PageSize?: number;
                /** @description Text that must occur in name, code or city, in upper or lower case. No character is a wildcard. */
                SearchText?: string;
                /** @description Only warehouses of this status */
                Status?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page; empty past the end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WarehouseList"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:read */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWarehouse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "W-1",
                 *       "name": "A warehouse of mine",
                 *       "city": "Tartu",
                 *       "countryCode": "EE"
                 *     }
                 */
                "application/json": components["schemas"]["WarehouseInput"];
            };
        };
        responses: {
            /** @description The new warehouse */
            201: {
                headers: {
                    /** @description Address of the warehouse */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Warehouse"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWarehouse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The warehouse */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Warehouse"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeWarehouse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "city": "Tartu"
                 *     }
                 */
                "application/json": components["schemas"]["WarehousePatch"];
                /**
                 * @example {
                 *       "city": "Tartu"
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["WarehousePatch"];
            };
        };
        responses: {
            /** @description The warehouse */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Warehouse"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope consignments:write */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
