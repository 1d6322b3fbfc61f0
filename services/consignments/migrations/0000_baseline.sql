-- Trigram indexes, for SearchText. The owner of a database may create this one.
create schema if not exists extensions;
create extension if not exists pg_trgm with schema extensions;
--> statement-breakpoint
CREATE TABLE "consignment_details" (
	"id" uuid PRIMARY KEY NOT NULL,
	"details" json NOT NULL,
	"named_ids" uuid[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "consignments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"consignment_number" text NOT NULL,
	"client_id" uuid NOT NULL,
	"client_name" text NOT NULL,
	"carrier_id" uuid,
	"warehouse_id" uuid,
	"status" integer NOT NULL,
	"edi_status" integer NOT NULL,
	"external_id" text,
	"reference" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((case when octet_length(consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')) = char_length(consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')) then (consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')) else normalize((consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')), nfc) end) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "consignments_status_known" CHECK ("consignments"."status" between 0 and 8),
	CONSTRAINT "consignments_edi_status_known" CHECK ("consignments"."edi_status" between 0 and 4)
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"owner" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"answer" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_owner_key_pk" PRIMARY KEY("owner","key")
);
--> statement-breakpoint
CREATE TABLE "import_results" (
	"owner" text NOT NULL,
	"import_id" text NOT NULL,
	"slice" integer NOT NULL,
	"results" json NOT NULL,
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "import_results_owner_import_id_slice_pk" PRIMARY KEY("owner","import_id","slice")
);
--> statement-breakpoint
CREATE TABLE "inventory" (
	"id" uuid PRIMARY KEY NOT NULL,
	"partner_id" uuid NOT NULL,
	"partner_product_id" text NOT NULL,
	"product_code" text NOT NULL,
	"description" text NOT NULL,
	"warehouse_id" uuid NOT NULL,
	"quantity" integer NOT NULL,
	"reserved" integer NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"in_stock" boolean GENERATED ALWAYS AS (quantity > 0) STORED NOT NULL,
	"stocked_partner_id" uuid GENERATED ALWAYS AS (case when quantity > 0 then partner_id end) STORED,
	"stocked_warehouse_id" uuid GENERATED ALWAYS AS (case when quantity > 0 then warehouse_id end) STORED,
	"search_text" text GENERATED ALWAYS AS (casefold((case when octet_length(product_code || chr(31) || description || chr(31) || partner_product_id) = char_length(product_code || chr(31) || description || chr(31) || partner_product_id) then (product_code || chr(31) || description || chr(31) || partner_product_id) else normalize((product_code || chr(31) || description || chr(31) || partner_product_id), nfc) end) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "inventory_stock_kept" CHECK (0 <= "inventory"."held" and "inventory"."held" <= "inventory"."reserved" and "inventory"."reserved" <= "inventory"."quantity")
);
--> statement-breakpoint
CREATE TABLE "partners" (
	"id" uuid PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"relationships" integer[] NOT NULL,
	"relationship" integer GENERATED ALWAYS AS (relationships[1]) STORED NOT NULL,
	"status" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((case when octet_length(name || chr(31) || code) = char_length(name || chr(31) || code) then (name || chr(31) || code) else normalize((name || chr(31) || code), nfc) end) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "partners_relationships_known" CHECK ("partners"."relationships" <@ '{0,1,2,3}'),
	CONSTRAINT "partners_status_known" CHECK ("partners"."status" between 0 and 1)
);
--> statement-breakpoint
CREATE TABLE "status_changes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"consignment_id" uuid NOT NULL,
	"from_status" integer NOT NULL,
	"to_status" integer NOT NULL,
	"forced" boolean NOT NULL,
	"reason" text,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "stock_movements" (
	"id" uuid PRIMARY KEY NOT NULL,
	"inventory_id" uuid NOT NULL,
	"quantity" integer NOT NULL,
	"reserved" integer NOT NULL,
	"reference" text,
	"reason" text,
	"consignment_id" uuid,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "warehouses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"city" text NOT NULL,
	"country_code" text NOT NULL,
	"status" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((case when octet_length(name || chr(31) || code || chr(31) || city) = char_length(name || chr(31) || code || chr(31) || city) then (name || chr(31) || code || chr(31) || city) else normalize((name || chr(31) || code || chr(31) || city), nfc) end) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "warehouses_status_known" CHECK ("warehouses"."status" between 0 and 1)
);
--> statement-breakpoint
ALTER TABLE "status_changes" ADD CONSTRAINT "status_changes_consignment_id_consignments_id_fk" FOREIGN KEY ("consignment_id") REFERENCES "consignments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stock_movements" ADD CONSTRAINT "stock_movements_inventory_id_inventory_id_fk" FOREIGN KEY ("inventory_id") REFERENCES "inventory"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "consignment_details" ADD CONSTRAINT "consignment_details_id_consignments_id_fk" FOREIGN KEY ("id") REFERENCES "consignments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "consignment_details_by_named_id" ON "consignment_details" USING gin ("named_ids");--> statement-breakpoint
CREATE INDEX "consignments_order" ON "consignments" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "consignments_by_client" ON "consignments" USING btree ("client_id","created_at","id","status","edi_status");--> statement-breakpoint
CREATE INDEX "consignments_by_warehouse" ON "consignments" USING btree ("warehouse_id","created_at","id","status","edi_status");--> statement-breakpoint
CREATE INDEX "consignments_by_carrier" ON "consignments" USING btree ("carrier_id","created_at","id","status","edi_status");--> statement-breakpoint
CREATE INDEX "consignments_by_status" ON "consignments" USING btree ("status","created_at","id","edi_status");--> statement-breakpoint
CREATE INDEX "consignments_by_edi_status" ON "consignments" USING btree ("edi_status","created_at","id");--> statement-breakpoint
CREATE INDEX "consignments_search" ON "consignments" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "consignments_external_id" ON "consignments" USING btree ("external_id","created_at","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "import_results_by_age" ON "import_results" USING btree ("stored_at");--> statement-breakpoint
CREATE INDEX "inventory_order" ON "inventory" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_partner" ON "inventory" USING btree ("partner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_warehouse" ON "inventory" USING btree ("warehouse_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_stocked_partner" ON "inventory" USING btree ("stocked_partner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_stocked_warehouse" ON "inventory" USING btree ("stocked_warehouse_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_in_stock" ON "inventory" USING btree ("in_stock","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_search" ON "inventory" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "inventory_partner_product_id" ON "inventory" USING btree ("partner_product_id","created_at","id");--> statement-breakpoint
CREATE INDEX "partners_newest" ON "partners" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "partners_search" ON "partners" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "status_changes_order" ON "status_changes" USING btree ("consignment_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "stock_movements_once" ON "stock_movements" USING btree ("inventory_id","reference");--> statement-breakpoint
CREATE INDEX "stock_movements_order" ON "stock_movements" USING btree ("inventory_id","created_at","id");--> statement-breakpoint
CREATE INDEX "stock_movements_by_consignment" ON "stock_movements" USING btree ("consignment_id") WHERE consignment_id is not null;--> statement-breakpoint
CREATE INDEX "warehouses_newest" ON "warehouses" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "warehouses_search" ON "warehouses" USING gin ("search_text" gin_trgm_ops);
