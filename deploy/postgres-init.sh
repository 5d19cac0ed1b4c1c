#!/bin/sh
# Runs once, when the database is made: the owner of Durabill's tables, who makes the login of its
# processes (`durabill migrate`), and a user for Temporal. Neither is a superuser.
set -eu
psql -v ON_ERROR_STOP=1 --username postgres \
  -v owner="$(cat /run/secrets/owner_password)" -v temporal="$(cat /run/secrets/temporal_password)" <<'SQL'
create role durabill_owner login createrole password :'owner';
create role temporal login createdb password :'temporal';
create database durabill owner durabill_owner;
SQL
