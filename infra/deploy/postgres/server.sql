-- Only the superuser may use the databases that every server has.
revoke all on database postgres, template1 from public;
