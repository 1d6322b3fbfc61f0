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
	"created_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "consignments_status_known" CHECK ("consignments"."status" between 0 and 7),
	CONSTRAINT "consignments_edi_status_known" CHECK ("consignments"."edi_status" between 0 and 4)
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
	"created_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"in_stock" boolean GENERATED ALWAYS AS (quantity > 0) STORED NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((product_code || chr(31) || description || chr(31) || partner_product_id) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "inventory_quantity_from_0" CHECK ("inventory"."quantity" >= 0),
	CONSTRAINT "inventory_reserved_from_0" CHECK ("inventory"."reserved" >= 0)
);
--> statement-breakpoint
CREATE TABLE "partners" (
	"id" uuid PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"relationship" integer NOT NULL,
	"status" integer NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((name || chr(31) || code) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "partners_relationship_known" CHECK ("partners"."relationship" between 0 and 3),
	CONSTRAINT "partners_status_known" CHECK ("partners"."status" between 0 and 1)
);
--> statement-breakpoint
CREATE TABLE "warehouses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"city" text NOT NULL,
	"country_code" text NOT NULL,
	"status" integer NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((name || chr(31) || code || chr(31) || city) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "warehouses_status_known" CHECK ("warehouses"."status" between 0 and 1)
);
--> statement-breakpoint
CREATE INDEX "consignments_search" ON "consignments" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "consignments_external_id" ON "consignments" USING btree ("external_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_search" ON "inventory" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "inventory_partner_product_id" ON "inventory" USING btree ("partner_product_id","created_at","id");--> statement-breakpoint
CREATE INDEX "partners_newest" ON "partners" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "partners_search" ON "partners" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "warehouses_newest" ON "warehouses" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "warehouses_search" ON "warehouses" USING gin ("search_text" gin_trgm_ops);