CREATE TABLE "event_reveals" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"event_id" uuid,
	"service" text,
	"transaction_id" text,
	"kind" text NOT NULL,
	"revealed_by" text NOT NULL,
	"request_id" text NOT NULL,
	"revealed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "event_reveals_store_id_id_pk" PRIMARY KEY("store_id","id")
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
CREATE TABLE "payment_challenges" (
	"store_id" uuid NOT NULL,
	"service" text NOT NULL,
	"three_ds_server_trans_id" text NOT NULL,
	"transaction_id" text NOT NULL,
	"outcome" text,
	"outcome_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_challenges_service_three_ds_server_trans_id_pk" PRIMARY KEY("service","three_ds_server_trans_id")
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"store_id" uuid NOT NULL,
	"service" text NOT NULL,
	"transaction_id" text NOT NULL,
	"id" uuid DEFAULT uuidv7() NOT NULL,
	"order_id" text NOT NULL,
	"three_ds_server_trans_id" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"eci" text,
	"settled_at" timestamp (3) with time zone,
	"settled_by" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payments_store_id_service_transaction_id_pk" PRIMARY KEY("store_id","service","transaction_id")
);
--> statement-breakpoint
CREATE TABLE "store_changes" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"changed_by" text NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL,
	"before" jsonb NOT NULL,
	"after" jsonb NOT NULL,
	CONSTRAINT "store_changes_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "stores" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"store_url" text NOT NULL,
	"settings" jsonb NOT NULL,
	"credentials" text NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"store_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"grace_until" timestamp (3) with time zone,
	"uses" bigint DEFAULT 0 NOT NULL,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "events" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"event" text NOT NULL,
	"service" text,
	"entity" text,
	"dedup" "bytea" NOT NULL,
	"body" "bytea" NOT NULL,
	"headers" jsonb NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"body_hash" "bytea",
	CONSTRAINT "events_store_id_id_pk" PRIMARY KEY("store_id","id"),
	CONSTRAINT "events_dedup" UNIQUE("store_id","dedup")
);
--> statement-breakpoint
CREATE TABLE "queue" (
	"store_id" uuid NOT NULL,
	"entity" text NOT NULL,
	"id" uuid NOT NULL,
	"queued_at" timestamp (3) with time zone NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"worker" uuid,
	"attempts" integer NOT NULL,
	"crashes" integer DEFAULT 0 NOT NULL,
	"error" text,
	"is_remapped" boolean DEFAULT false NOT NULL,
	CONSTRAINT "queue_store_id_entity_id_pk" PRIMARY KEY("store_id","entity","id")
);
--> statement-breakpoint
CREATE TABLE "results" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"state" text NOT NULL,
	"attempts" integer NOT NULL,
	"error" text,
	"finished_at" timestamp (3) with time zone NOT NULL,
	"note" text,
	"dismissed_by" text,
	"dismissed_at" timestamp (3) with time zone,
	CONSTRAINT "results_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"alive_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "delivery_jobs" (
	"store_id" uuid NOT NULL,
	"id" text NOT NULL,
	"order_id" text,
	"position" integer NOT NULL,
	"status" text,
	"driver_id" text,
	"driver" jsonb,
	"estimated_arrival" timestamp (3) with time zone,
	"assigned_at" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"arrived_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"later_position" integer,
	"later_stage_at" timestamp (3) with time zone,
	"event_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "delivery_jobs_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "import_jobs" (
	"store_id" uuid NOT NULL,
	"member_id" text NOT NULL,
	"id" uuid NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"worker" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"error" text,
	"user_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "import_jobs_store_id_member_id_pk" PRIMARY KEY("store_id","member_id")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"store_id" uuid NOT NULL,
	"id" text NOT NULL,
	"email" text,
	"first_name" text,
	"last_name" text,
	"phone" text,
	"status" text,
	"type" text,
	"version" bigint,
	"event_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "members_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "notifications" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"audience" text NOT NULL,
	"change" text NOT NULL,
	"subject" text NOT NULL,
	"reference" text,
	"consumer_id" text,
	"event_id" uuid,
	"mail" text NOT NULL,
	"resends" integer DEFAULT 0 NOT NULL,
	"worker" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"sent_at" timestamp (3) with time zone,
	CONSTRAINT "notifications_store_id_id_pk" PRIMARY KEY("store_id","id"),
	CONSTRAINT "notifications_key" UNIQUE("store_id","key")
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"store_id" uuid NOT NULL,
	"id" text NOT NULL,
	"status" text NOT NULL,
	"consumer_id" text,
	"version" bigint,
	-- Not compressed, so that the size of a page is known before it is read.
	"details" jsonb STORAGE EXTERNAL NOT NULL,
	"event_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "orders_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"consumer_user_id" text NOT NULL,
	"email" text,
	"first_name" text,
	"last_name" text,
	"phone" text,
	"language" text,
	"version" bigint,
	"refreshed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "users_store_id_id_pk" PRIMARY KEY("store_id","id"),
	CONSTRAINT "users_consumer" UNIQUE("store_id","consumer_user_id")
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"store_id" uuid NOT NULL,
	"service" text NOT NULL,
	"transaction_id" text NOT NULL,
	"status" text NOT NULL,
	"user_id" text,
	"completed" boolean NOT NULL,
	"version" bigint,
	"event_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "verifications_store_id_service_transaction_id_pk" PRIMARY KEY("store_id","service","transaction_id")
);
--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "payment_challenges_outcome" ON "payment_challenges" USING btree ("outcome_at") WHERE outcome is not null;--> statement-breakpoint
CREATE INDEX "payment_challenges_store" ON "payment_challenges" USING btree ("store_id");--> statement-breakpoint
CREATE INDEX "store_changes_time" ON "store_changes" USING btree ("store_id","changed_at","id");--> statement-breakpoint
CREATE INDEX "payments_transaction_anywhere" ON "payments" USING btree ("service",lower(transaction_id));--> statement-breakpoint
CREATE INDEX "payments_latest" ON "payments" USING btree ("store_id","id");--> statement-breakpoint
CREATE INDEX "payments_order" ON "payments" USING btree ("store_id","order_id");--> statement-breakpoint
CREATE INDEX "stores_updated" ON "stores" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "webhook_tokens_store" ON "webhook_tokens" USING btree ("store_id");--> statement-breakpoint
CREATE INDEX "events_entity" ON "events" USING btree ("store_id",substr(entity, strpos(entity, ':') + 1),"id") WHERE entity is not null;--> statement-breakpoint
CREATE INDEX "events_subject" ON "events" USING btree ("store_id",substr(dedup, 1, 8),"id");--> statement-breakpoint
CREATE INDEX "events_request" ON "events" USING brin ((headers ->> 'x-request-id') text_bloom_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "queue_due" ON "queue" USING btree ("due_at") WHERE crashes <= 2;--> statement-breakpoint
CREATE INDEX "queue_suspects" ON "queue" USING btree ("due_at") WHERE crashes > 2;--> statement-breakpoint
CREATE INDEX "results_state" ON "results" USING btree ("store_id","state","id") WHERE state <> 'done';--> statement-breakpoint
CREATE INDEX "delivery_jobs_latest" ON "delivery_jobs" USING btree ("store_id","event_id");--> statement-breakpoint
CREATE INDEX "delivery_jobs_order" ON "delivery_jobs" USING btree ("store_id","order_id");--> statement-breakpoint
CREATE INDEX "import_jobs_latest" ON "import_jobs" USING btree ("store_id","id");--> statement-breakpoint
CREATE INDEX "import_jobs_due" ON "import_jobs" USING btree ("store_id","due_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "members_latest" ON "members" USING btree ("store_id","event_id");--> statement-breakpoint
CREATE INDEX "notifications_reference" ON "notifications" USING btree ("store_id","reference");--> statement-breakpoint
CREATE INDEX "notifications_due" ON "notifications" USING btree ("store_id","due_at") WHERE mail = 'pending';--> statement-breakpoint
CREATE INDEX "notifications_consumer" ON "notifications" USING btree ("store_id","consumer_id","id");--> statement-breakpoint
CREATE INDEX "orders_latest" ON "orders" USING btree ("store_id","event_id");--> statement-breakpoint
CREATE INDEX "orders_number" ON "orders" USING btree ("store_id",(details ->> 'orderNo'));--> statement-breakpoint
CREATE INDEX "orders_consumer" ON "orders" USING btree ("store_id","consumer_id","event_id");--> statement-breakpoint
CREATE INDEX "verifications_latest" ON "verifications" USING btree ("store_id","event_id");--> statement-breakpoint
CREATE INDEX "verifications_user" ON "verifications" USING btree ("store_id","user_id","event_id");--> statement-breakpoint
CREATE VIEW "inbox" AS (
  select e.store_id, e.id, e.event, e.service, e.entity, e.dedup, e.body, e.headers, e.received_at,
    coalesce(r.state, 'pending') as state, coalesce(q.attempts, r.attempts) as attempts, q.due_at,
    coalesce(q.error, r.error) as error, r.finished_at,
    r.note, r.dismissed_by, r.dismissed_at
  from events e
  left join queue q on q.store_id = e.store_id and q.entity = coalesce(e.entity, e.id::text) and q.id = e.id
  left join results r on r.store_id = e.store_id and r.id = e.id);--> statement-breakpoint
-- Soon visible to all, so that late pages of events skip rows by the index alone; nothing else is to be vacuumed then.
ALTER TABLE events SET (autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0);--> statement-breakpoint
-- The index is read in a bitmap scan, which the connections of the service forbid (src/db/plans.ts).
CREATE FUNCTION events_of_request(request_id text) RETURNS SETOF uuid
  LANGUAGE sql STABLE SET enable_bitmapscan = on
  AS $$ SELECT id FROM events WHERE headers ->> 'x-request-id' = request_id $$;--> statement-breakpoint
-- An erasure finds the kept answers about a person among those of all stores.
CREATE INDEX idempotency_keys_created ON idempotency_keys ((answer::json ->> 'id'));
