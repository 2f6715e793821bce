-- Locks invoices until the transaction ends, then returns those that have a sale. A function, because its SELECT must see
-- what was committed while it waited for the locks; 7240818 is the lock of invoices.
CREATE FUNCTION lock_invoices(workspace text, invoices text[]) RETURNS SETOF text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(lock) FROM (
    SELECT DISTINCT hashtextextended(workspace || ' ' || invoice, 7240818) AS lock
    FROM unnest(invoices) AS invoice ORDER BY lock
  ) AS sorted;
  RETURN QUERY SELECT DISTINCT invoice_id FROM conversions
    WHERE workspace_id = workspace AND invoice_id = ANY(invoices) AND kind = 'sale';
END $$;
