-- Which trace wrote the message, as W3C Trace Context writes it; null for most.
ALTER TABLE outbox ADD COLUMN traceparent text;
