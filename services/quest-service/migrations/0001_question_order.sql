-- Checked at the end of each statement, so that one UPDATE may shift many questions by one place.
ALTER TABLE "questions" ADD CONSTRAINT "questions_place" UNIQUE ("quest_id", "order_number") DEFERRABLE INITIALLY IMMEDIATE;
