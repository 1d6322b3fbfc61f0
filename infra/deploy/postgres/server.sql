-- The databases that the server came with are for its superuser only.
revoke all on database postgres, template1 from public;
