// Reads lines of "message version hex", decodes each with Apache Kafka's own class, and prints the hex that Kafka writes.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

public class Reencode {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            short version = Short.parseShort(words[1]);
            ByteBuffer received = ByteBuffer.wrap(HexFormat.of().parseHex(words[2]));
            ApiMessage message = (ApiMessage)
                Class.forName("org.apache.kafka.common.message." + words[0] + "Data").getConstructor().newInstance();
            message.read(new ByteBufferAccessor(received), version);
            if (received.hasRemaining()) {
                throw new IllegalStateException(words[0] + " v" + version + ": bytes are left");
            }
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer written = ByteBuffer.allocate(message.size(cache, version));
            message.write(new ByteBufferAccessor(written), cache, version);
            System.out.println(HexFormat.of().formatHex(written.array()));
        }
    }
}
