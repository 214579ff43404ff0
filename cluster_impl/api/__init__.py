"""The APIs that clients use, and followers with them: what a broker's listeners answer.

A design mounts `BrokerApis.handlers` on its servers; whatever it needs besides (heartbeats, elections) it adds itself.
"""

from cluster_impl.api.apis import BrokerApis
from cluster_impl.api.config import ApiConfig

__all__ = ["ApiConfig", "BrokerApis"]
