"""What tests do to a real broker beside sending through it."""

import pika
import redis


def remove_queue(url: str, queue: str) -> None:
    """Remove *queue* and all it holds from the broker at *url*."""
    if url.startswith("redis"):
        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter(f"*{queue}*"):
                client.delete(key)
    elif url.startswith("amqp"):
        connection = pika.BlockingConnection(pika.URLParameters(url))
        for name in (queue, f"{queue}.DQ", f"{queue}.XQ"):
            connection.channel().queue_delete(name)
        connection.close()
