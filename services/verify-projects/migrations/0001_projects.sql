CREATE SEQUENCE "public"."project_clock" INCREMENT BY 1 MINVALUE 0 MAXVALUE 9223372036854775807 START WITH 0 CACHE 1;--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"key_hint" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone,
	"revoked_at" timestamp(3) with time zone,
	"last_used_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "deliverables" (
	"project_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"language" text NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"due_at" timestamp(3) with time zone,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"wire" text GENERATED ALWAYS AS (deliverable_wire(project_id, id, language, type, status, due_at, updated_at)) STORED NOT NULL,
	CONSTRAINT "deliverables_project_id_id_pk" PRIMARY KEY("project_id","id"),
	CONSTRAINT "deliverables_type_known" CHECK ("deliverables"."type" in ('report', 'certificate', 'transcript', 'translation', 'evidence')),
	CONSTRAINT "deliverables_status_known" CHECK ("deliverables"."status" in ('pending', 'in_progress', 'delivered', 'accepted', 'rejected'))
);
--> statement-breakpoint
CREATE TABLE "languages" (
	"code" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"native_name" text NOT NULL,
	"direction" text NOT NULL,
	CONSTRAINT "languages_direction_known" CHECK ("languages"."direction" in ('ltr', 'rtl'))
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"source_language" text NOT NULL,
	"target_languages" text[] NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"wire" text GENERATED ALWAYS AS (project_wire(id, name, status, source_language, target_languages, created_at, updated_at)) STORED NOT NULL,
	CONSTRAINT "projects_status_known" CHECK ("projects"."status" in ('draft', 'active', 'in_review', 'completed', 'archived'))
);
--> statement-breakpoint
ALTER TABLE "deliverables" ADD CONSTRAINT "deliverables_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_by_hash" ON "api_keys" USING btree ("hash");